"""Where the sections of a report stand in its text, found by their headers.

A header is a known name, in English, Chinese or Spanish, followed by a colon, or alone on its line, or in brackets, or
in capitals before a dash. Sub-headers of a structured report ("Lungs:", "PLEURA:") are no known names, so what follows
them stays in the section they stand in.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from workbench.domain.reports import Section

UNLABELLED = "unlabelled"
PREAMBLE = "preamble"

# What each section is called by those who write reports. An addendum concludes, so it is read with the impression: left
# out, a finding that was seen later would be missed.
_CALLED: dict[str, str] = {
    "findings": "findings; finding; findings and impression; findings/impression; findings & impression; "
    "findings and conclusion; radiographic findings; radiological findings; imaging findings; chest findings; "
    "检查所见; 影像所见; 影像表现; 影像学表现; 影像学所见; 放射学表现; 放射学所见; x线所见; x线表现; 所见; 描述; "
    "影像描述; "
    "hallazgos; hallazgo; descripción; descripcion",
    "impression": "impression; impressions; conclusion; conclusions; impression and recommendation; "
    "impression and recommendations; impression/recommendation; impression/recommendations; opinion; interpretation; "
    "assessment; summary; final impression; final diagnosis; radiological diagnosis; diagnosis; addendum; "
    "印象; 诊断意见; 诊断印象; 影像诊断; 影像学诊断; 影像印象; 放射学诊断; 诊断; 诊断结论; 结论; 意见; 提示; "
    "impresión; impresion; impresiones; impresión diagnóstica; impresion diagnostica; conclusión; "
    "conclusiones; juicio diagnóstico; diagnóstico; diagnostico",
    "indication": "indication; indications; clinical indication; clinical indications; reason for exam; "
    "reason for examination; reason for study; reason for the exam; reason for this examination; reason; "
    "clinical question; exam indication; study indication; clinical impression; clinical diagnosis; "
    "检查目的; 适应症; 适应证; 检查原因; 临床诊断; 临床印象; 申请目的; "
    "indicación; indicacion; indicaciones; motivo; motivo de consulta; motivo del estudio; motivo de la exploración; "
    "diagnóstico clínico; sospecha diagnóstica",
    "history": "history; clinical history; clinical information; clinical data; clinical details; patient history; "
    "relevant history; medical history; past medical history; history of present illness; clinical background; "
    "病史; 临床病史; 临床资料; 临床信息; 主诉; 既往史; 现病史; "
    "antecedentes; historia clínica; historia clinica; resumen de historia clínica; resumen de historia clinica; "
    "datos clínicos; información clínica",
    "comparison": "comparison; comparisons; comparison study; comparison studies; comparison exam; comparison exams; "
    "prior studies; prior study; prior; priors; previous studies; compared with; compared to; "
    "对比; 比较; 对照; 前片; 既往检查; comparación; comparacion; estudios previos; estudio previo",
    "technique": "technique; techniques; views; view; protocol; method; "
    "检查方法; 扫描方法; 检查技术; 摄影技术; 技术; 方法; técnica; tecnica",
    "examination": "examination; exam; exam type; type of exam; study; procedure; examination type; study type; "
    "检查部位; 检查项目; 检查名称; estudio; prueba",
    "recommendation": "recommendation; recommendations; 建议; 随访建议; recomendación; recomendaciones",
    "notification": "notification; notifications; communication; critical results",
    "wet read": "wet read; preliminary read; preliminary report",
    "signature": "signature; signed; signed by; electronically signed by; dictated by; attending; radiologist; "
    "报告医生; 报告医师; 审核医生; 审核医师; 医生签名",
}
_NAMES = {name.strip(): section for section, names in _CALLED.items() for name in names.split(";")}
_LONGEST = max(map(len, _NAMES)) + 8  # with room for markup and doubled spaces

# With a capital in the middle of a line these are headers even so ("chest pain Findings: clear"): missing one would
# leave what was found unread.
_SURE = {"findings", "impression"}

_COLON = re.compile(r"[:：]")
_WORD_START = re.compile(r"(?<![^\W_])[^\W_]")
_MARKUP_AFTER = " \t*_】]"
_MARKUP_ALONE = " \t\r#*_"
_MARKUP_BEFORE = " \t*_#>【[-•"
_SENTENCE_ENDS = ".!?;:。！？；：)）】]"
_LOOK_BACK = 80  # characters, enough to see what stands before a header
# Before a name on the same line these make it a phrase of its own: "NO FINDINGS:", "Other Findings:".
_QUALIFIES = frozenset(
    {"no", "not", "without", "other", "additional", "incidental", "significant", "acute", "chronic", "abnormal"}
    | {"positive", "negative", "pertinent", "relevant", "these", "the", "clinical", "previous", "prior", "key"}
    | {"sin", "otros", "无", "其他"}
)
_BREAKS = re.compile(r"[\n.!?;:,。！？；：，]")

# Tried on the text with a line feed before it, so that the search jumps from line to line.
_DASHED = re.compile(r"\n[ \t]*(?P<name>[A-ZÓÉÍÁ][A-ZÓÉÍÁ &/]{1,38})[ \t]+[-–—]{1,2}(?=[ \t])")
_BRACKETED = re.compile(r"[【\[](?P<name>[^】\]\n]{2,40})[】\]](?!\s*[:：])")


class _Header(NamedTuple):
    start: int  # of the header, its markup included
    end: int  # of the header, colon and markup included
    name: str


def split_sections(text: str) -> tuple[Section, ...]:
    """Return the sections of a report in the order in which they stand, each a span of ``text`` as it is.

    Headers are left out of the spans, and so is the white space around a section; a section with nothing in it is
    left out. A text without any header is one section ``unlabelled``. Text before the first header is ``preamble``
    (titles, names), unless that header is the impression and there are no findings elsewhere: then what stands before
    it is what was found, and it is ``unlabelled``, which runs read. A blank text has no sections.
    """
    headers = _in_order(_headers(text))
    if not headers:
        return tuple(_section(text, UNLABELLED, 0, len(text)))
    first = headers[0]
    lone = first.name == "impression" and all(header.name != "findings" for header in headers)
    found = _section(text, UNLABELLED if lone else PREAMBLE, 0, first.start)
    ends = [header.start for header in headers[1:]] + [len(text)]
    for header, end in zip(headers, ends, strict=True):
        found += _section(text, header.name, header.end, end)
    return tuple(found)


def _section(text: str, name: str, start: int, end: int) -> list[Section]:
    """Return the span without the white space around it, or nothing where there is only white space."""
    stretch = text[start:end].rstrip()
    kept = stretch.lstrip()
    if not kept:
        return []
    end = start + len(stretch)
    return [Section(name, end - len(kept), end)]


def _in_order(headers: list[_Header]) -> list[_Header]:
    headers.sort()
    kept: list[_Header] = []
    for header in headers:
        if not kept or header.start >= kept[-1].end:
            kept.append(header)
    return kept


def _headers(text: str) -> list[_Header]:
    has_lower = not text.isupper()  # in a report all in capitals they say nothing
    found = [_before_colon(text, colon.start(), has_lower) for colon in _COLON.finditer(text)]
    headers = [header for header in found if header is not None]
    if "\n" in text or len(text) < _LONGEST:
        headers += _alone(text)
    if "- " in text or "–" in text or "—" in text:
        headers += _dashed(text)
    if "【" in text or "[" in text:
        headers += _bracketed(text)
    return headers


def _before_colon(text: str, colon: int, has_lower: bool) -> _Header | None:
    low = max(0, colon - _LONGEST)
    line = text.rfind("\n", low, colon) + 1
    if line or not low:  # nearly every header begins its line and needs no closer look
        section = _NAMES.get(text[line:colon].lower())
        if section is not None and not text[line].islower():
            return _Header(line, colon + 1, section)
    tail = text[low:colon].rstrip(_MARKUP_AFTER)
    words = _BREAKS.split(tail)[-1]
    base = low + len(tail) - len(words)
    for word in _WORD_START.finditer(words):  # the longest name first
        said = words[word.start() :]
        section = _NAMES.get(_key(said))
        if section is not None:
            name_at = base + word.start()
            start = _with_markup(text, name_at)
            if not _stands_as_header(text, start, name_at, said, has_lower):
                return None
            opened = text[start:name_at].strip()
            end = colon + 1 + (2 if opened in {"**", "__"} and text.startswith(opened, colon + 1) else 0)
            return _Header(start, end, section)
    return None


def _with_markup(text: str, at: int) -> int:
    while at and text[at - 1] in _MARKUP_BEFORE:
        at -= 1
    return at


def _stands_as_header(text: str, start: int, name_at: int, said: str, has_lower: bool) -> bool:
    """Return whether a known name before a colon is a header rather than words of a sentence ("no findings: ...")."""
    before = text[max(0, start - _LOOK_BACK) : start]
    words = before.rstrip()
    if not words or words[-1] in _SENTENCE_ENDS:
        return True
    if len(words) < len(before):  # only line ends are left: the name begins a line
        return not said[0].islower() or before.count("\n") > 1
    gap = text[start:name_at]
    if any(mark in gap for mark in ("**", "__", "【", "  ")):
        return True
    return bool(gap) and _set_off(words, said, has_lower)


def _set_off(words: str, said: str, has_lower: bool) -> bool:
    """Return whether its letters alone set a name off from the words before it on the same line."""
    if words.rsplit(maxsplit=1)[-1].lower() in _QUALIFIES:
        return False
    if said.lower() == said.upper():  # a script without capitals
        return True
    if said[0].isupper() and _key(said) in _SURE:
        return True
    return has_lower and said.isupper()


def _alone(text: str) -> Iterator[_Header]:
    """Yield headers that have a line to themselves."""
    at = 0
    for line in text.split("\n"):
        if 1 < len(line) < _LONGEST:
            said = line.strip(_MARKUP_ALONE)
            section = _NAMES.get(_key(said))
            if section is not None and (not said[0].islower() or line.lstrip()[0] in "#*_"):
                yield _Header(at, at + len(line), section)
        at += len(line) + 1


def _dashed(text: str) -> Iterator[_Header]:
    """Yield headers in capitals that begin a line and end in a dash."""
    for match in _DASHED.finditer("\n" + text):
        section = _NAMES.get(_key(match["name"]))
        if section is not None:
            yield _Header(match.start(), match.end() - 1, section)


def _bracketed(text: str) -> Iterator[_Header]:
    for match in _BRACKETED.finditer(text):
        section = _NAMES.get(_key(match["name"]))
        if section is not None and not match["name"][0].islower():
            yield _Header(match.start(), match.end(), section)


def _key(said: str) -> str:
    return " ".join(said.lower().split())
