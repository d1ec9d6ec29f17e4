"""passages: what stands in earlier texts is cut out of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._call import Call, source_of
from ._errors import UsageError
from ._options import PassagesOptions, Path, documented, path_of
from ._progress import Wanted
from ._rows import Rows
from ._show import Summary

if TYPE_CHECKING:
    from typing_extensions import Unpack


@documented(PassagesOptions)
def passages(data: Any, *, output: Path, progress: Wanted = None, **options: Unpack[PassagesOptions]) -> Summary:
    """Cut lines, sentences, paragraphs or runs of words that stand in an earlier document out of all others.

    For paths (a str, a path, or a list of paths) it fills the folder ``output``, as ``alike passages`` does, and
    returns the summary.
    """
    call = Call("passages", PassagesOptions, options, progress)
    source = source_of(data)
    if isinstance(source, Rows):
        raise UsageError("passages are cut out of files: write the rows to one, such as JSON Lines, and give its path as a str")
    with call.begin(in_memory=False):
        return call.run("passages", [f"--output={path_of('output', output)}"], source).summary
