"""What stands above the findings: reason, comparison, technique. None of it is a finding of the report."""

from random import Random

# Symptoms and questions; the questions name findings that the report may well not have.
GENERAL = (
    "Chest pain.", "Cough.", "Shortness of breath.", "Fever and cough.", "Dyspnea on exertion.", "Pre-op evaluation.",
    "Evaluate for pneumonia.", "Rule out pneumonia.", "Cough and fever, question pneumonia.", "Syncope.", "Weakness.",
    "Chest pain, evaluate for pneumothorax.", "Fall, rule out rib fracture.", "Positive PPD.", "Hemoptysis.",
    "History of pneumonia, follow-up.", "Wheezing, history of COPD.", "Hypoxia, rule out edema.", "Annual screening.",
    "___-year-old man with altered mental status.", "___-year-old woman with left-sided chest pain.", "Palpitations.",
    "Leukocytosis, assess for infiltrate.", "Motor vehicle collision.", "Smoker, weight loss, question mass.",
    "Cardiomegaly on an outside film.", "Abnormal breath sounds at the right base, effusion?", "Shoulder pain.",
    "Abdominal pain, evaluate for free air.", "Employment physical.", "___-year-old with diabetes and nausea.",
    "Follow-up of a nodule seen elsewhere.", "Shortness of breath, history of CHF.", "Dizziness.", "Night sweats.",
    "Sarcoidosis, surveillance.", "History of breast cancer.", "Asthma exacerbation.", "Trauma.", "Tachycardia.",
    "___-year-old male, cough for two weeks, crackles at the bases.", "Renal failure, fluid status.",
)  # fmt: skip
WORDY = (
    "___-year-old woman with fatigue, a remote history of pneumonia and two weeks of cough, question infection.",
    "___-year-old man, former smoker, followed for a nodule on an outside CT, now with pain below the breast.",
    "Status post ___, transferred with increasing oxygen requirement; please assess for edema or pneumothorax.",
    "___-year-old patient with hypertension and known cardiomegaly, presenting after a fall with right rib pain.",
    "Immunosuppressed after transplant on ___, persistent fever despite antibiotics, early infiltrate or cavity?",
    "___-year-old woman in the emergency department with sudden dyspnea, history of clots, rule out effusion.",
)
SPECIAL: dict[str, tuple[str, ...]] = {
    "heart_failure": (
        "CHF, dyspnea.",
        "Leg swelling and orthopnea.",
        "Worsening shortness of breath.",
        "Volume status.",
    ),
    "infection": ("Fever, productive cough.", "Sepsis.", "Cough with rigors.", "Rule out pneumonia."),
    "intensive_care": (
        "Intubated, assess tube position.",
        "Line placement.",
        "Postoperative day 2.",
        "Respiratory failure.",
        "Status post CABG, evaluate for pneumothorax.",
    ),
    "obstructive": ("COPD.", "Long-standing smoker.", "Chronic cough."),
    "tumour": ("Weight loss.", "Known malignancy, staging.", "Nodule follow-up."),
    "trauma": ("Fall down stairs.", "Rib pain after trauma.", "Assault."),
    "pneumothorax": ("Status post biopsy.", "Sudden chest pain.", "Status post chest tube."),
    "devices": ("Line placement.", "Port check."),
    "follow_up": ("Follow-up.", "Interval change.", "Follow-up of abnormal radiograph.", "Evaluate interval change."),
}
WITHOUT_PRIOR = ("None.", "None.", "No prior studies.", "None available.", "No comparison.")
WITH_PRIOR = (
    "Chest radiograph of ___.", "___.", "Radiographs dated ___.", "Portable chest from ___.", "CT chest ___.",
    "PA and lateral of ___, which showed a right effusion.", "Multiple priors, most recent ___.", "Outside film ___.",
    "Chest x-ray ___, at which time there was left lower lobe pneumonia.", "___ at ___.",
)  # fmt: skip
VIEWS = (
    ("CHEST (PA AND LAT)", ("PA and lateral views.", "Frontal and lateral radiographs.")),
    ("XR CHEST 2 VIEWS", ("Two views of the chest.", "PA and lateral chest radiographs.")),
    ("Chest radiograph", ("Upright AP view.", "PA and lateral.", "Single frontal view.")),
    (
        "CHEST (PORTABLE AP)",
        ("Single portable AP view.", "Portable semi-upright AP radiograph.", "Supine portable film."),
    ),
)
OPENINGS = (
    "PA and lateral chest.", "Portable chest.", "", "", "AP view of the chest dated ___.", "Two views.",
    "Chest for cough and fever, question pneumonia.", "Chest radiograph for preoperative clearance.",
)  # fmt: skip


def draw_head(case: str, rng: Random, *, prior: bool, blank: str, wordy: bool) -> dict[str, str]:
    """Return indication, comparison, technique and the like for one report."""
    special = SPECIAL.get(case, ())
    reason = rng.choice(special) if special and rng.random() < 0.5 else rng.choice(GENERAL)
    if wordy:
        reason = rng.choice(WORDY)
    examination, techniques = rng.choice(VIEWS)
    head = {
        "indication": reason,
        "comparison": rng.choice(WITH_PRIOR if prior else WITHOUT_PRIOR),
        "technique": rng.choice(techniques),
        "examination": examination,
        "opening": rng.choice(OPENINGS),
    }
    return {name: text.replace("___", blank) for name, text in head.items()}
