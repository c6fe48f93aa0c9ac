"""Objects of mixed lives: words counted, a tree built and half of it dropped, JSON there and back."""

import json
import re

words = re.findall(r"\w+", " ".join(f"word{i * i % 3001} and {i}" for i in range(2500)))
counts: dict[str, int] = {}
for word in words:
    counts[word] = counts.get(word, 0) + 1
tree = {f"n{i}": [{"id": j, "tag": f"{i}-{j}"} for j in range(i % 23)] for i in range(600)}
for i in range(0, 600, 2):
    del tree[f"n{i}"]
text = json.dumps(tree)
print(len(counts), len(text), len(json.loads(text)))
