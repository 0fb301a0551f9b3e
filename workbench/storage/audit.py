"""The audit trail: everything that was recorded, by whom and when, in the order of time."""

import heapq
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.storage.encoding import instant, json_text


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that was done. ``subject`` names what it was done to; ``details`` is a JSON object."""

    at: datetime
    actor: str
    event: str
    subject: str
    details: str


# What each of the SELECTs below may ask: whose labels may be told.
_LIMITS = """WITH closed (cohort, label_set) AS (
        SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:closed)
    ), locked (cohort) AS (SELECT value FROM json_each(:locked)) """

# What a rater labelled, for reports of closed rounds only; of others no more than that there are labels.
_ANNOTATIONS = """SELECT at, rater, iif(submitted, 'labels submitted', 'labels drafted'), report_id, json_patch(
        json_object('source', source, 'label_set', label_set_hash, 'reading', reading),
        CASE WHEN EXISTS (
            SELECT 1 FROM cohort_members AS m JOIN closed ON closed.cohort = m.cohort
            WHERE m.report_id = a.report_id AND closed.label_set = a.label_set_hash
        ) AND NOT EXISTS (
            SELECT 1 FROM cohort_members AS m JOIN locked ON locked.cohort = m.cohort WHERE m.report_id = a.report_id
        ) THEN json_object(
            'states', json(states), 'evidence', json(evidence), 'comment', comment, 'seconds', seconds,
            'simulated', json(iif(simulated, 'true', 'false')), 'reading', reading, 'marks', json(marks),
            'reason', reason, 'superseded', json(iif(EXISTS (
                SELECT 1 FROM annotations AS later WHERE later.report_id = a.report_id AND later.rater = a.rater
                AND later.reading = a.reading AND later.label_set_hash = a.label_set_hash
                AND later.submitted >= a.submitted AND later.id > a.id
            ), 'true', 'false'))
        ) ELSE '{}' END)
    FROM annotations AS a ORDER BY at, id"""

_ADJUDICATIONS = """SELECT a.at, a.actor, 'item adjudicated', a.report_id, json_patch(
        json_object('reference', r.name, 'finding', a.finding_id),
        CASE WHEN EXISTS (SELECT 1 FROM closed WHERE closed.cohort = c.name AND closed.label_set = r.label_set_hash)
            AND c.name NOT IN (SELECT cohort FROM locked)
        THEN json_object('present', json(iif(a.present, 'true', 'false')), 'reason', a.reason) ELSE '{}' END)
    FROM adjudications AS a JOIN reference_standards AS r ON r.hash = a.reference_hash
    JOIN cohorts AS c ON c.hash = r.cohort_hash ORDER BY a.at, a.id"""

# One SELECT per table that records who and when: at, actor, event, subject, details. Acts of the same instant are told
# in this order.
_SOURCES = (
    """SELECT at, actor, 'person ' || event, name, json_object('roles', json(roles), 'email', email)
    FROM people_events ORDER BY at, id""",
    """SELECT at, actor, kind || ' imported', file, json_object('rows', rows, 'file_sha256', file_hash)
    FROM imports ORDER BY at, id""",
    """SELECT created_at, author, 'cohort made', name, json_object('hash', hash, 'purpose', purpose, 'seed', seed,
        'reports', (SELECT COUNT(*) FROM cohort_members WHERE cohort = name))
    FROM cohorts ORDER BY created_at, position""",
    """SELECT at, actor, 'cohort unlocked', cohort, json_object('reason', reason, 'declared', json(details))
    FROM unlocks ORDER BY at, id""",
    """SELECT e.at, e.actor, 'round ' || e.action, r.name, json_object('cohort', c.name, 'label_set', r.label_set_hash,
        'raters', json(r.raters), 'k', r.k, 'n', r.n, 'tie', r.tie, 'vote_policies', json(r.vote_policies),
        'reason', e.reason)
    FROM round_events AS e JOIN rounds AS r ON r.hash = e.round_hash JOIN cohorts AS c ON c.hash = r.cohort_hash
    ORDER BY e.at, e.id""",
    _ANNOTATIONS,
    # What was said in practice is no label; that it was said is an act.
    """SELECT at, rater, iif(submitted, 'practice submitted', 'practice drafted'), report_id,
        json_object('practice', practice_hash, 'seconds', seconds)
    FROM practice_answers ORDER BY at, id""",
    """SELECT r.created_at, r.author, 'reference frozen', r.name, json_object('hash', r.hash, 'cohort', c.name,
        'label_set', r.label_set_hash, 'k', r.k, 'n', r.n, 'tie', r.tie, 'raters', json(r.raters),
        'vote_policies', json(r.vote_policies), 'simulated', json(iif(r.simulated, 'true', 'false')),
        'parent', r.parent_hash, 'adjudicated', json_array_length(r.adjudicated), 'reason', r.reason)
    FROM reference_standards AS r JOIN cohorts AS c ON c.hash = r.cohort_hash ORDER BY r.created_at, r.position""",
    """SELECT v.at, v.actor, 'reference looked at', r.name, json_object('hash', r.hash)
    FROM reference_views AS v JOIN reference_standards AS r ON r.hash = v.reference_hash ORDER BY v.at, r.position""",
    _ADJUDICATIONS,
    """SELECT created_at, author, 'revision added', 'revision ' || number,
        json_object('prompt', prompt_hash, 'parent', parent_hash, 'message', message)
    FROM revisions ORDER BY created_at, number""",
    """SELECT r.at, r.actor, 'run started', r.hash, json_object('prompt', r.prompt_hash, 'cohort', c.name,
        'labeler', json(r.labeler), 'sections', json(r.sections), 'repeats', r.repeats)
    FROM runs AS r JOIN cohorts AS c ON c.hash = r.cohort_hash ORDER BY r.at, r.position""",
    """SELECT at, actor, 'host ' || event || ' for reports', host, iif(event = 'closed', '{}', json_object(
        'agreement', agreement, 'zero_retention', json(iif(zero_retention, 'true', 'false')), 'until', until))
    FROM data_use_events ORDER BY at, id""",
    # Failures belong to a prompt and a labeler; who first ran the two is who is told. Those saved together are one act.
    """SELECT f.at, COALESCE((SELECT r.actor FROM runs AS r WHERE r.prompt_hash = f.prompt_hash
            AND r.labeler_hash = f.labeler_hash ORDER BY r.position LIMIT 1), ''),
        'calls brought no reply (' || f.trouble || ')', 'prompt ' || f.prompt_hash, json_object(
        'labeler', f.labeler_hash, 'reports', COUNT(*), 'calls', SUM(f.calls), 'first', f.detail)
    FROM failures AS f GROUP BY f.at, f.prompt_hash, f.labeler_hash, f.trouble ORDER BY f.at, MIN(f.id)""",
    """SELECT b.at, b.actor, 'batch made', b.run_hash, json_object('batch', b.token, 'reports',
        (SELECT COUNT(*) FROM batch_requests AS q WHERE q.batch_id = b.id))
    FROM batches AS b ORDER BY b.at, b.id""",
    """SELECT e.at, e.actor, iif(e.event = 'told', 'batch is ' || e.state, 'batch ' || e.event), b.run_hash,
        json_object('batch', b.token, 'provider_id', e.provider_id, 'answered', e.answered, 'failed', e.failed)
    FROM batch_events AS e JOIN batches AS b ON b.id = e.batch_id ORDER BY e.at, e.id""",
    # Who first ran it is who is told.
    """SELECT s.at, r.actor, 'run stopped', s.run_hash, json_object('why', s.why)
    FROM run_stops AS s JOIN runs AS r ON r.hash = s.run_hash ORDER BY s.at, s.id""",
    """SELECT e.at, e.actor, 'run scored', e.run_hash,
        json_object('evaluation', e.hash, 'reference', r.name, 'policies', json(e.policies))
    FROM evaluations AS e JOIN reference_standards AS r ON r.hash = e.reference_hash ORDER BY e.at, e.position""",
    """SELECT at, actor, 'error tagged', report_id, json_object('evaluation', evaluation_hash, 'finding', finding_id,
        'kind', kind, 'comment', comment)
    FROM error_tags ORDER BY at, id""",
    # Which of them are controls is told to nobody: the adjudicator may read the trail.
    """SELECT d.at, d.actor, 'reference doubted', d.report_id, json_object('reference', r.name, 'finding', d.finding_id)
    FROM doubted_items AS d JOIN reference_standards AS r ON r.hash = d.reference_hash ORDER BY d.at, d.id""",
    """SELECT v.at, v.actor, 'doubted item judged', v.report_id, json_patch(
        json_object('reference', r.name, 'finding', v.finding_id),
        CASE WHEN EXISTS (SELECT 1 FROM closed WHERE closed.cohort = c.name AND closed.label_set = r.label_set_hash)
            AND c.name NOT IN (SELECT cohort FROM locked)
        THEN json_object('present', json(iif(v.present, 'true', 'false')), 'reason', v.reason) ELSE '{}' END)
    FROM doubt_verdicts AS v JOIN reference_standards AS r ON r.hash = v.reference_hash
    JOIN cohorts AS c ON c.hash = r.cohort_hash ORDER BY v.at, v.id""",
    """SELECT p.at, p.actor, 'edits proposed by a model', 'question ' || substr(p.key, 1, 12),
        json_object('answers', json_array_length(p.said)) FROM proposals AS p ORDER BY p.at, p.id""",
    """SELECT l.at, l.actor, 'cohort looked at (' || l.kind || ')', c.name, json_object('prompt', l.prompt_hash)
    FROM looks AS l JOIN cohorts AS c ON c.hash = l.cohort_hash ORDER BY l.at, l.id""",
    """SELECT s.at, s.actor, iif(s.accepted, 'suggestion accepted', 'suggestion declined'), 'prompt ' || s.prompt_hash,
        json_object('edit', json(s.edit), 'source', s.source, 'held_out', json(s.held_out), 'evaluation',
        s.evaluation_hash)
    FROM suggestion_decisions AS s ORDER BY s.at, s.id""",
    """SELECT s.at, s.actor, 'revision signed by a second person', 'revision ' || r.number, json_object('prompt',
        s.prompt_hash, 'evaluation', s.evaluation_hash, 'comment', s.comment)
    FROM signatures AS s JOIN revisions AS r ON r.prompt_hash = s.prompt_hash ORDER BY s.at, s.id""",
    """SELECT at, actor, 'data set of generated reports made', name, json_object('hash', hash, 'task', task,
        'file', file, 'studies', (SELECT COUNT(*) FROM data_set_studies WHERE data_set_hash = hash))
    FROM data_sets ORDER BY at, position""",
    """SELECT s.at, s.actor, 'generated reports imported', s.system, json_object('data_set', d.name, 'task', d.task,
        'file', s.file, 'hash', s.hash)
    FROM submissions AS s JOIN data_sets AS d ON d.hash = s.data_set_hash ORDER BY s.at, s.id""",
    """SELECT m.at, m.actor, iif(m.judged IS NULL, 'metric scores imported', 'generated reports judged'), m.metric,
        json_patch(json_object('data_set', d.name, 'task', d.task, 'file', m.file),
        json_object('judged', json(m.judged)))
    FROM metric_imports AS m JOIN data_sets AS d ON d.hash = m.data_set_hash ORDER BY m.at, m.id""",
    """SELECT e.at, e.actor, 'review ' || e.action, r.name, json_object('data_set', d.name, 'task', d.task,
        'reviewers', json(r.reviewers), 'studies', json_array_length(r.study_ids), 'seed', r.seed, 'systems',
        (SELECT json_group_array(json_extract(value, '$[0]')) FROM json_each(r.submissions)), 'reason', e.reason)
    FROM review_events AS e JOIN reviews AS r ON r.hash = e.review_hash
    JOIN data_sets AS d ON d.hash = r.data_set_hash ORDER BY e.at, e.id""",
    # What a reviewer said is told once the review is closed.
    """SELECT g.at, g.reviewer, 'generated report rated', r.name, json_patch(json_object('study', g.study_id),
        CASE WHEN EXISTS (SELECT 1 FROM review_events WHERE review_hash = r.hash AND action = 'closed')
        THEN json_object('text', g.text_hash, 'rating', g.rating, 'marks', json(g.marks), 'comment', g.comment,
            'seconds', g.seconds) ELSE '{}' END)
    FROM review_ratings AS g JOIN reviews AS r ON r.hash = g.review_hash ORDER BY g.at, g.id""",
    """SELECT i.at, i.actor, 'ratings of generated reports imported', d.name, json_object('task', d.task, 'file',
        i.file, 'ratings', (SELECT COUNT(*) FROM imported_ratings AS g WHERE g.import_id = i.id))
    FROM rating_imports AS i JOIN data_sets AS d ON d.hash = i.data_set_hash ORDER BY i.at, i.id""",
    """SELECT d.at, d.actor, 'revision ' || d.status, 'revision ' || r.number, json_object('prompt', d.prompt_hash,
        'reason', d.reason, 'evaluation', d.evaluation_hash, 'signed', json(d.signed), 'override', d.override)
    FROM decisions AS d JOIN revisions AS r ON r.prompt_hash = d.prompt_hash ORDER BY d.at, d.id""",
)


def trail(conn: sqlite3.Connection, *, closed: Sequence[tuple[str, str]], locked: Sequence[str]) -> Iterator[Event]:
    """Yield every recorded act by time: people, imports, cohorts, rounds, labels, references, revisions, runs, looks.

    Labels that a later submission superseded are there too, and so is what was adjudicated. Call it inside
    ``snapshot()``, so that all of it is of one moment.

    Args:
        conn: the connection.
        closed: (cohort, label-set hash) of the rounds whose labels may be told.
        locked: cohorts whose reports' labels may not be told, even where another cohort that holds them is closed.
    """
    told = {"closed": json_text([list(pair) for pair in closed]), "locked": json_text(list(locked))}
    sources = [conn.execute(_LIMITS + source, told) for source in _SOURCES]
    # Instants are text of fixed width, so their order is that of time; merge keeps the sources' order within one.
    for at, actor, event, subject, details in heapq.merge(*sources, key=lambda row: row[0]):
        yield Event(instant(at), actor, event, subject, details)
