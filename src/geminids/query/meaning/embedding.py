"""Vectors of texts, by the model that comes with the package wordllama. The package itself is not loaded: it
would bring what fetches other models from the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from geminids.core.errors import GeminidsError
from geminids.core.installation import who_adds

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    Vectors: TypeAlias = "np.ndarray[tuple[int, int], np.dtype[np.float16]]"

MODEL = "l2_supercat_256"
"""Changed with the model: vectors of different ones cannot be compared."""
SIZE = 256
_PACKAGES = ("wordllama", "safetensors", "tokenizers", "numpy")
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WEIGHTS = f"weights/{MODEL}.safetensors"


class MeaningNotInstalledError(GeminidsError):
    """What makes vectors of texts is not there."""

    def __init__(self, missing: str) -> None:
        super().__init__(f"Searching by meaning needs {missing!r}; {who_adds('meaning')} adds it.")


def is_installed() -> bool:
    """Whether all is there that makes vectors; nothing of it is loaded."""
    return all(map(find_spec, _PACKAGES))


class Embedding:
    """Makes vectors of texts; all of them have the length one."""

    def __init__(self) -> None:
        """Load the model. Raises MeaningNotInstalledError."""
        package = find_spec("wordllama")
        if package is None or not package.submodule_search_locations:
            raise MeaningNotInstalledError("wordllama")
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MeaningNotInstalledError(str(error.name)) from error
        folder = Path(next(iter(package.submodule_search_locations)))
        self._tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        (self._weights,) = load_file(folder / _WEIGHTS).values()

    def of(self, texts: Sequence[str]) -> Vectors:
        """A vector for each text; one of a text without any word is nothing but zeros."""
        import numpy as np

        vectors = np.zeros((len(texts), SIZE), np.float32)
        # Halves of characters, which agents write and terminals give, are no text to the tokenizer.
        whole = [text.encode("utf-8", "replace").decode() for text in texts]
        for vector, encoded in zip(
            vectors, self._tokenizer.encode_batch(whole, add_special_tokens=False), strict=True
        ):
            if encoded.ids:
                vector[:] = self._weights[encoded.ids].mean(axis=0, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        shortened: Vectors = (vectors / np.maximum(lengths, 1e-9)).astype(np.float16)
        return shortened
