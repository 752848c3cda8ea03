"""An application on the public interface: tables, reports and the command line."""
