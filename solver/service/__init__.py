"""A backend for other programs: requests as plain data, answered over HTTP or line by line.

`requests` takes and gives dictionaries and knows no transport; `app` puts it behind HTTP, with a page;
`lines` reads one request a line. Nothing here is kept between requests but tables and results that
could be worked out again, and no request can name a file.
"""

from __future__ import annotations

from .fields import RequestError
from .limits import Limits, WorkError
from .requests import Later, Service

__all__ = ["Later", "Limits", "RequestError", "Service", "WorkError"]
