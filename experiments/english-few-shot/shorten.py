"""Makes an encoder of the first layers of another.

python experiments/english-few-shot/shorten.py MODEL LAYERS FOLDER
"""

import sys

from transformers import AutoModel, AutoTokenizer


def main() -> None:
    source, layers, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    model = AutoModel.from_pretrained(source)
    model.encoder.layer = model.encoder.layer[:layers]
    model.config.num_hidden_layers = layers
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)


if __name__ == "__main__":
    main()
