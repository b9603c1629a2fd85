"""campaign.toml: what people read. The ledger's row is the truth; this is its projection.

Until a campaign has a ledger, it is all that is known of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from symfleet.config.catalogue import GROUPS, settings
from symfleet.config.model import CampaignConfig

CONFIG_NAME: Final = "campaign.toml"


def render_toml(config: CampaignConfig, origins: Mapping[str, str] | None = None) -> str:
    """Write all settings as TOML, each with its sentence, in the order of the reference.

    Unset optional settings stand as comments. `parse_toml` reads the same configuration back.
    """
    lines = ["# Effective configuration of this campaign; a projection of the ledger."]
    for group in GROUPS:
        lines += ["", f"[{group}]"]
        for setting in settings():
            if setting.group != group:
                continue
            value = getattr(getattr(config, group), setting.name)
            origin = origins.get(setting.name, "default") if origins else "default"
            note = "" if origin == "default" else f"  # from {origin}"
            lines.append(f"# {setting.knob.text}")
            if value is None:
                lines.append(f"# {setting.name} is not set: {setting.knob.derived or 'none'}{note}")
            else:
                lines.append(f"{setting.name} = {_toml(value)}{note}")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case tuple():
            return "[" + ", ".join(_toml(word) for word in value) + "]"
        case _:
            # JSON's escapes of control characters are TOML's; JSON lets DEL stand as it is.
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
