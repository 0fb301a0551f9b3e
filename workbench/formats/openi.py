"""Open-i (Indiana University) chest reports, as their CSV file is published: one column per section."""

from collections.abc import Mapping

# MeSH, Problems and image are the indexers' and the file's own business; nobody reads them as report text.
COLUMNS: Mapping[str, str] = {
    "id": "uid",
    "patient": "uid",
    "section:indication": "indication",
    "section:comparison": "comparison",
    "section:findings": "findings",
    "section:impression": "impression",
}
