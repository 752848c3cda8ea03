"""Autoencoders of kernelised data."""

from .estimator import KernelAutoencoder
