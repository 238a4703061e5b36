"""Print the OpenAPI document of the server, which the types of the page are made of."""

from __future__ import annotations

import json
import sys

from geminids.faces.web.app import ENDPOINTS
from geminids.faces.web.openapi import openapi

json.dump(openapi(ENDPOINTS), sys.stdout)
