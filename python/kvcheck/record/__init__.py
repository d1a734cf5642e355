"""Records traces from models that run in Python. This part needs NumPy only, not the compiled module:
the folder can be copied to the machine on which the model runs.

    from kvcheck import record

    record.record_text(model, tokenizer, text, "llama.safetensors", layers=[0, 8, 16], tokens=2048)

Models:    record_text, Recorder           a text, or any calls of a model of transformers
Arrays:    write_trace, Layer              a trace file of arrays from elsewhere
           rotate, unrotate, rotation_of   rotations of queries and keys, and their tables
           attention_rows, losses_of       rows of attention; -ln of probabilities
Words:     words_of                        the text of each token
"""

from .files import write_trace
from .hook import Recorder
from .layers import Layer
from .rotation import Rotation, rotate, rotation_of, unrotate
from .rows import attention_rows
from .text import losses_of, record_text
from .words import words_of

__all__ = ["Layer", "Recorder", "Rotation", "attention_rows", "losses_of", "record_text", "rotate",
           "rotation_of", "unrotate", "words_of", "write_trace"]
