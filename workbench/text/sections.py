"""Where the sections of a report stand in its text, found by their headers.

A header is a known name, in English, Chinese or Spanish, followed by a colon, or alone on its line, or in brackets, or
in capitals before a dash. Sub-headers of a structured report ("Lungs:", "PLEURA:") are no known names, so what follows
them stays in the section they stand in.

Many reports have no header before their findings: these are a paragraph of their own under the comparison, the
technique or the reason for the study, or follow the name of the view ("CHEST, PA AND LATERAL:"). They are looked for
where no findings have a header. The headers are those that MIMIC-CXR's own section code counts
(github.com/MIT-LCP/mimic-cxr, txt/section_parser.py).
"""

import re
from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

from workbench.domain.reports import Section
from workbench.text.free_findings import (
    PREAMBLE,
    UNLABELLED,
    names_view_or_part,
    with_free_findings,
    without_edges,
)

SPLITTING_VERSION = "1"  # raised when a report is split otherwise than before; a test says when

# What each section is called by those who write reports. An addendum concludes, so it is read with the impression: left
# out, a finding that was seen later would be missed.
_CALLED: dict[str, str] = {
    "findings": "findings; finding; finding(s); radiographic findings; radiological findings; imaging findings; "
    "chest findings; "
    "检查所见; 影像所见; 影像表现; 影像学表现; 影像学所见; 放射学表现; 放射学所见; x线所见; x线表现; 所见; 描述; "
    "影像描述; "
    "hallazgos; hallazgo; descripción; descripcion",
    "impression": "impression; impressions; impression(s); conclusion; conclusions; opinion; interpretation; "
    "assessment; summary; final impression; final diagnosis; radiological diagnosis; diagnosis; addendum; "
    "印象; 诊断意见; 诊断印象; 影像诊断; 影像学诊断; 影像印象; 放射学诊断; 诊断; 诊断结论; 结论; 意见; 提示; "
    "impresión; impresion; impresiones; impresión diagnóstica; impresion diagnostica; conclusión; "
    "conclusiones; juicio diagnóstico; diagnóstico; diagnostico",
    "indication": "indication; indications; indication(s); clinical indication; clinical indications; reason for exam; "
    "reason for examination; reason for study; reason for the exam; reason for this examination; reason; "
    "reason for this exam; reason for the examination; reason for the study; reason for this study; "
    "reason for exam/examination; "
    "clinical question; exam indication; study indication; clinical impression; clinical diagnosis; "
    "检查目的; 适应症; 适应证; 检查原因; 临床诊断; 临床印象; 申请目的; "
    "indicación; indicacion; indicaciones; motivo; motivo de consulta; motivo del estudio; motivo de la exploración; "
    "diagnóstico clínico; sospecha diagnóstica",
    "history": "history; clinical history; clinical information; clinical data; clinical details; patient history; "
    "relevant history; medical history; past medical history; history of present illness; clinical background; "
    "病史; 临床病史; 临床资料; 临床信息; 主诉; 既往史; 现病史; "
    "antecedentes; historia clínica; historia clinica; resumen de historia clínica; resumen de historia clinica; "
    "datos clínicos; información clínica",
    "comparison": "comparison; comparisons; comparison(s); comparison film; comparison films; reference exam; "
    "reference examination; comparison study; comparison studies; comparison exam; comparison exams; "
    "prior studies; prior study; prior; priors; previous studies; compared with; compared to; "
    "对比; 比较; 对照; 前片; 既往检查; comparación; comparacion; estudios previos; estudio previo",
    "technique": "technique; techniques; views; view; protocol; method; "
    "检查方法; 扫描方法; 检查技术; 摄影技术; 技术; 方法; técnica; tecnica",
    "examination": "examination; exam; exam type; type of exam; study; procedure; examination type; study type; "
    "检查部位; 检查项目; 检查名称; estudio; prueba",
    "recommendation": "recommendation; recommendations; recommendation(s); "
    "建议; 随访建议; recomendación; recomendaciones",
    "notification": "notification; notifications; notification(s); communication; critical results",
    "wet read": "wet read; wetread; preliminary read; preliminary report; pfi; pfi report; "
    "provisional findings impression; provisional findings impression (pfi)",
    "signature": "signature; signed; signed by; electronically signed by; dictated by; attending; radiologist; "
    "报告医生; 报告医师; 审核医生; 审核医师; 医生签名",
    # The title of what is not preliminary. It ends the preliminary read above it.
    PREAMBLE: "final report",
}


def _joined(names: dict[str, str]) -> dict[str, str]:
    """Return two names as one header ("COMPARISON/FINDINGS"): findings are never to be lost in the other."""
    single = "findings; impression; conclusion; indication; history; clinical history; technique; comparison; "
    single += "recommendation; recommendations; recommendation(s)"
    joined = {}
    for one, other in permutations(single.split("; "), 2):
        both = (names[one], names[other])
        section = next((sure for sure in ("findings", "impression") if sure in both), both[0])
        joined.update({f"{one}{joint}{other}": section for joint in (" and ", "/", "/ ", " / ", " & ")})
    return joined


def _misspelt(names: dict[str, str]) -> dict[str, str]:
    """Return the commonest names with one letter left out, added, changed or swapped with the next."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    wrong = {}
    for name in ("findings", "impression", "conclusion", "comparison", "indication", "technique", "recommendation"):
        for at in range(len(name) + 1):
            head, tail = name[:at], name[at:]
            ways = {head + tail[1:], head + tail[1:2] + tail[:1] + tail[2:]}
            ways |= {head + letter + rest for letter in letters for rest in (tail, tail[1:])}
            wrong.update({way: names[name] for way in ways if way not in names})
    return wrong


_NAMES = {name.strip(): section for section, names in _CALLED.items() for name in names.split(";")}
_JOINED = _joined(_NAMES)
_NAMES = _JOINED | _NAMES
_MISSPELT = _misspelt(_NAMES)
_LONGEST = max(map(len, _NAMES)) + 8  # with room for markup and doubled spaces

# With a capital in the middle of a line these are headers even so ("chest pain Findings: clear"): missing one would
# leave what was found unread.
_SURE = {"findings", "impression"}
_SURE |= {name for name, section in _JOINED.items() if section in _SURE}

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
    (titles, names), and so is what follows a line FINAL REPORT up to the next header. A blank text has no sections.

    Where no findings stand under a header of their own,

    - later paragraphs of a section of context (indication, history, comparison, technique, examination) are
      ``findings``, and so is what follows the name of a view ("AP CHEST, 9:15 AM:") or of a part of the chest
      ("LUNGS:") that begins a line. The first paragraph under a header is never taken for findings, nor one that
      begins by saying who the patient is or what is asked;
    - a preamble right before the impression is what was found, and it is ``unlabelled``, which runs read;
    - where all of this leaves nothing to read, a preamble with more than titles is ``unlabelled``, or else the
      preliminary read is ``findings``. With a final report beside it a preliminary read is not read.
    """
    headers = _in_order(_headers(text))
    if all(header.name == PREAMBLE for header in headers):
        return tuple(without_edges(text, UNLABELLED, 0, len(text)))
    sections = without_edges(text, PREAMBLE, 0, headers[0].start)
    ends = [header.start for header in headers[1:]] + [len(text)]
    for header, end in zip(headers, ends, strict=True):
        sections += without_edges(text, header.name, header.end, end)
    if "findings" not in [section.name for section in sections]:
        sections = with_free_findings(text, sections)
    return tuple(sections)


def _in_order(headers: list[_Header]) -> list[_Header]:
    headers.sort()
    kept: list[_Header] = []
    for header in headers:
        if not kept or header.start >= kept[-1].end:
            kept.append(header)
    return kept


def _headers(text: str) -> list[_Header]:
    has_lower = not text.isupper()  # in a report all in capitals they say nothing
    headers = []
    for colon in _COLON.finditer(text):
        header = _before_colon(text, colon.start(), has_lower)
        if header is not None:
            headers.append(header)
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
        said = text[line:colon].strip()
        section = _NAMES.get(said.lower())
        if section is None and said.isupper():
            section = _MISSPELT.get(said.lower())
        if section is not None and not said[0].islower():
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
            of_view = _ends_a_view(section, text, name_at, said)
            if of_view or not _stands_as_header(text, start, name_at, said, has_lower):
                return None
            opened = text[start:name_at].strip()
            end = colon + 1 + (2 if opened in {"**", "__"} and text.startswith(opened, colon + 1) else 0)
            return _Header(start, end, section)
    return None


def _ends_a_view(section: str, text: str, name_at: int, said: str) -> bool:
    """Return whether a name is the end of the name of a view ("CHEST, TWO VIEWS:"), under which findings may stand."""
    if section not in {"technique", "examination"}:
        return False
    before = text[max(0, name_at - _LOOK_BACK) : name_at].rpartition("\n")[2]
    return bool(before.strip()) and ":" not in before and names_view_or_part(before + said)


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
        if 1 < len(line) < _LONGEST and line[-1] != ".":
            said = line.strip(_MARKUP_ALONE)
            section = _NAMES.get(_key(said))
            if section is not None and (not said[0].islower() or line.lstrip()[0] in "#*_"):
                yield _Header(at, at if section == PREAMBLE else at + len(line), section)
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
