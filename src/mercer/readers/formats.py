"""The formats that are read: who reads each, and how to recognise it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Format:
    """One format of files or folders.

    `module` and `function` name its reader, which takes a `Source` (for folders, a path) and `Options`, and returns
    `Data` with the labels that the file holds, as text or numbers. Modules are imported when a file needs them; a dot
    in front stands for `mercer.readers`.
    """

    module: str
    function: str
    suffixes: tuple[str, ...] = ()
    magic: bytes | None = None
    """How every file of a binary format begins."""
    folder: bool = False
    pieces: str | None = None
    """What long files are cut between: "lines", "records" (headers with >) or "paragraphs". None: read whole."""


FORMATS: dict[str, Format] = {
    "csv": Format(".delimited", "read_csv", (".csv", ".data"), pieces="lines"),
    "tsv": Format(".delimited", "read_tsv", (".tsv", ".tab"), pieces="lines"),
    "parquet": Format(".parquet", "read_parquet", (".parquet", ".pq"), magic=b"PAR1"),
    "npy": Format(".arrays", "read_npy", (".npy",), magic=b"\x93NUMPY"),
    "npz": Format(".arrays", "read_npz", (".npz",), magic=b"PK\x03\x04"),
    "svmlight": Format(".svmlight", "read_svmlight", (".svm", ".svmlight", ".libsvm"), pieces="lines"),
    "text": Format(".text", "read_text", pieces="lines"),
    "labelled-text": Format(".text", "read_labelled_text", pieces="lines"),
    "jsonl": Format(".json_lines", "read_jsonl", (".jsonl", ".ndjson"), pieces="lines"),
    "folder": Format(".folders", "read_folder", folder=True),
    "fasta": Format(".fasta", "read_fasta", (".fa", ".fasta", ".fna", ".faa", ".ffn"), pieces="records"),
    "smiles": Format(".molecules", "read_smiles", (".smi", ".smiles"), pieces="lines"),
    "sdf": Format(".molecules", "read_sdf", (".sdf", ".sd")),
    "tu": Format(".tu_dataset", "read_tu", folder=True),
    "graphml": Format(".graph_files", "read_graphml", (".graphml",)),
    "edges": Format(".graph_files", "read_edges", (".edges", ".edgelist"), pieces="paragraphs"),
    "trees": Format(".text", "read_trees", (".mrg", ".ptb", ".trees"), pieces="lines"),
    "gram": Format(".delimited", "read_gram"),
}
