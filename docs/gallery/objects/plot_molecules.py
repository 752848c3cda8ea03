"""
Molecules
=========

The example predicts boiling points of small molecules from their structure. Molecules are compared by common
substructures: the Tanimoto similarity of their fingerprints, computed by rdkit, is a kernel.
"""

# %%
# Boiling points in degrees Celsius at normal pressure, from textbooks.

import matplotlib.pyplot as plt
import numpy as np
from rdkit import Chem
from rdkit.Chem import rdFingerprintGenerator
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_predict

from hilbertlearn import OperatorKernelRegressor, kernels

families = {
    "alkanes": "CCC -42 CCCC -1 CCCCC 36 CCCCCC 69 CCCCCCC 98 CCCCCCCC 126 CCCCCCCCC 151 CCCCCCCCCC 174 CC(C)C -12 "
    "CCC(C)C 28 CCCC(C)C 60 CC(C)(C)C 10 C1CCCC1 49 C1CCCCC1 81",
    "alcohols": "CO 65 CCO 78 CCCO 97 CCCCO 118 CCCCCO 138 CCCCCCO 157 CCCCCCCO 176 CCCCCCCCO 195 CC(C)O 82 "
    "CCC(C)O 100 CC(C)CO 108 CC(C)(C)O 82 OC1CCCCC1 161 OCCO 197",
    "amines": "CCN 17 CCCN 48 CCCCN 78 CCCCCN 104 CCCCCCN 131 CC(C)N 32 CCNCC 56 CCN(CC)CC 89 C1CCNCC1 106",
    "acids": "CC(=O)O 118 CCC(=O)O 141 CCCC(=O)O 164 CCCCC(=O)O 186 CCCCCC(=O)O 205 CC(C)C(=O)O 155",
    "ketones": "CC(C)=O 56 CCC(C)=O 80 CCCC(C)=O 102 CCC(=O)CC 102 CCCCC(C)=O 128 O=C1CCCC1 131 O=C1CCCCC1 156 "
    "CC(C)C(C)=O 94",
    "esters": "COC=O 32 COC(C)=O 57 CCOC(C)=O 77 CCCOC(C)=O 102 CCCCOC(C)=O 126 CCOC(=O)CC 99 CCOC(=O)CCC 121",
    "chlorides": "CCCl 12 CCCCl 47 CCCCCl 78 CCCCCCl 108 CC(C)Cl 36 ClCCCl 84 ClC(Cl)Cl 61 ClCCl 40",
    "aromatics": "c1ccccc1 80 Cc1ccccc1 111 CCc1ccccc1 136 Oc1ccccc1 182 Nc1ccccc1 184 Clc1ccccc1 132 Cc1ccc(C)cc1 138",
}
table = [(family, *pair) for family, text in families.items() for pair in zip(text.split()[::2], text.split()[1::2])]
family, smiles, boiling = (np.array(column) for column in zip(*table))
boiling = boiling.astype(float)

# %%
# Fingerprints count circular substructures up to radius 2. A list of terms is a sum of kernels, here of a linear
# kernel (additive contributions of substructures) and the Tanimoto kernel.

generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=1024)
X = np.array([generator.GetCountFingerprintAsNumPy(Chem.MolFromSmiles(s)) for s in smiles], dtype=float)
folds = KFold(10, shuffle=True, random_state=0)
models = {
    "Tanimoto kernel": OperatorKernelRegressor(kernels.Tanimoto()),
    "Tanimoto + linear": OperatorKernelRegressor([(kernels.Tanimoto(), None), ("linear", None)]),
    "Gaussian kernel": OperatorKernelRegressor("rbf"),
    "linear ridge": RidgeCV(np.geomspace(1e-2, 1e3, 16)),
}
predicted = {name: cross_val_predict(model, X, boiling, cv=folds) for name, model in models.items()}
for name, values in predicted.items():
    print(f"{name:18} mean leave-one-out error {np.abs(values - boiling).mean():5.1f} degrees")

# %%
figure, ax = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
ends = [-60, 220]
ax.plot(ends, ends, color="#8C8C8C", linewidth=1)
best = "Tanimoto + linear"
for name, color in zip(families, plt.get_cmap("tab10").colors):
    rows = family == name
    ax.scatter(boiling[rows], predicted[best][rows], color=color, s=30, label=name)
ax.set(xlabel="boiling point, measured", ylabel=f"leave-one-out prediction ({best})", xlim=ends, ylim=ends)
ax.set_aspect("equal")
ax.legend(frameon=False, fontsize="small")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The Tanimoto similarity alone does not depend on the size of molecules. Substructures contribute nearly additively
# to a boiling point, so that linear ridge regression is as accurate as the sum of both kernels here.
