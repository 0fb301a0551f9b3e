"""The kinds of cases, how many of each, and how often things are found or denied besides."""

Option = tuple[float, tuple[str, ...]]

# A kind of case: with what probability which of the options holds. "finding+#flavour" is present, "?" hedged.
CASES: dict[str, list[Option]] = {
    "heart_failure": [
        (1, ("cardiomegaly+#big", "cardiomegaly+#big", "cardiomegaly+#border")),
        (
            1,
            (
                "pulmonary_edema+#edema",
                "pulmonary_edema+#congestion",
                "pulmonary_edema+#congestion",
                "pulmonary_edema+#edema interstitial_abnormality+#markings",
                "pulmonary_edema+#edema lung_opacity+#bilateral",
                "pulmonary_edema?#edema interstitial_abnormality+#markings",
                "pulmonary_edema?#edema",
            ),
        ),
        (0.6, ("pleural_effusion+#uni", "pleural_effusion+#bi", "pleural_effusion+#bi", "pleural_effusion?#blunt")),
        (0.25, ("atelectasis+#basal", "atelectasis?#basal")),
        (0.35, ("support_device+#pacer", "support_device+#sternotomy", "support_device+#valve")),
        (0.25, ("vascular_abnormality+#calc calcification+", "vascular_abnormality+#pa")),
    ],
    "infection": [
        (
            1,
            (
                "lung_opacity+#focal pneumonia?",
                "lung_opacity+#focal pneumonia?",
                "lung_opacity+#focal",
                "consolidation+#lobar lung_opacity+",
                "consolidation+#lobar lung_opacity+ pneumonia+",
                "consolidation+#lobar lung_opacity+ pneumonia?",
                "consolidation+#multi lung_opacity+",
                "pneumonia+",
                "pneumonia+",
                "lung_opacity+#focal pneumonia+",
                "lung_opacity+#focal pneumonia+",
                "lung_opacity+#basal pneumonia? atelectasis?",
                "consolidation?#lobar lung_opacity+#focal",
                "consolidation?#lobar lung_opacity?",
            ),
        ),
        (0.3, ("pleural_effusion+#uni", "pleural_effusion?#blunt")),
        (0.15, ("atelectasis+#basal",)),
        (0.1, ("support_device+#port", "support_device+#line")),
    ],
    "hazy": [
        (
            1,
            (
                "lung_opacity+#basal",
                "lung_opacity+#retro",
                "lung_opacity+#bilateral",
                "lung_opacity?#focal",
                "lung_opacity+#focal",
                "lung_opacity+#basal atelectasis?",
                "lung_opacity+#basal atelectasis+",
                "lung_opacity+#basal atelectasis? pneumonia-",
                "lung_opacity+#bilateral pulmonary_edema?#edema",
                "lung_opacity+ nodule_or_mass?#nodule",
            ),
        ),
        (0.3, ("pleural_effusion?#blunt", "pleural_effusion+#uni", "pleural_effusion+#bi")),
        (0.2, ("cardiomegaly+#border", "cardiomegaly?")),
    ],
    "atelectasis": [
        (1, ("atelectasis+#basal", "atelectasis+#basal", "atelectasis+#collapse", "atelectasis?#basal")),
        (0.3, ("diaphragm_abnormality+#elevated", "pleural_effusion+#uni", "pleural_effusion?#blunt")),
        (0.15, ("cardiomegaly+#big",)),
    ],
    "intensive_care": [
        (
            1,
            (
                "support_device+#ett#enteric#line",
                "support_device+#ett#line",
                "support_device+#chesttube#line",
                "support_device+#enteric#line#sternotomy",
                "support_device+#ett#enteric",
            ),
        ),
        (
            0.7,
            (
                "atelectasis+#basal",
                "lung_opacity+#basal",
                "lung_opacity+#basal atelectasis?",
                "lung_opacity+#bilateral",
                "consolidation+#multi lung_opacity+",
            ),
        ),
        (0.6, ("pleural_effusion+#uni", "pleural_effusion+#bi", "pleural_effusion+#bi atelectasis+")),
        (0.4, ("pulmonary_edema+", "pulmonary_edema?#edema", "cardiomegaly+#big")),
    ],
    "effusion": [
        (
            1,
            (
                "pleural_effusion+#uni",
                "pleural_effusion+#bi",
                "pleural_effusion+#loc",
                "pleural_effusion+#uni atelectasis+",
                "pleural_effusion?#blunt",
            ),
        ),
        (0.3, ("atelectasis?#basal", "support_device+#port", "lung_opacity+#basal")),
    ],
    "obstructive": [
        (
            1,
            (
                "emphysema_or_hyperinflation+",
                "emphysema_or_hyperinflation+",
                "emphysema_or_hyperinflation+",
                "emphysema_or_hyperinflation+ diaphragm_abnormality+#flattened",
                "emphysema_or_hyperinflation?",
            ),
        ),
        (
            0.3,
            ("interstitial_abnormality+#scar", "nodule_or_mass+#nodule", "atelectasis?#basal", "lung_opacity+#focal"),
        ),
        (
            0.3,
            (
                "vascular_abnormality+#calc calcification+",
                "vascular_abnormality+#pa",
                "other_bone_abnormality+#scoliosis#kyphosis",
            ),
        ),
    ],
    "fibrosis": [
        (
            1,
            (
                "interstitial_abnormality+#markings",
                "interstitial_abnormality+#fibrosis",
                "interstitial_abnormality+#scar",
                "interstitial_abnormality+#markings lung_opacity+",
                "interstitial_abnormality?#markings",
                "interstitial_abnormality?#scar atelectasis?",
            ),
        ),
        (0.2, ("vascular_abnormality+#pa", "cardiomegaly+#border")),
    ],
    "granuloma": [
        (
            1,
            (
                "nodule_or_mass+#granuloma calcification+",
                "nodule_or_mass+#granuloma calcification+",
                "nodule_or_mass+#plaingranuloma",
            ),
        ),
    ],
    "tumour": [
        (
            1,
            (
                "nodule_or_mass+#nodule",
                "nodule_or_mass+#nodule",
                "nodule_or_mass+#mass",
                "nodule_or_mass?#nodule",
                "nodule_or_mass?#nodule",
            ),
        ),
        (
            0.3,
            (
                "pleural_effusion+#uni",
                "support_device+#port",
                "atelectasis+#collapse",
                "other_bone_abnormality+#lesion",
            ),
        ),
    ],
    "enlarged_heart": [
        (1, ("cardiomegaly+#big", "cardiomegaly+#border", "cardiomegaly?")),
        (
            0.35,
            (
                "vascular_abnormality+#tortuous#athero#variant",
                "vascular_abnormality+#calc calcification+",
                "support_device+#pacer",
                "support_device+#sternotomy",
            ),
        ),
    ],
    "ageing": [
        (
            1,
            (
                "vascular_abnormality+#calc calcification+",
                "vascular_abnormality+#tortuous#athero#variant",
                "vascular_abnormality+#aneurysm",
                "vascular_abnormality+#tortuous cardiomegaly+#border",
                "calcification+#coronary#valve#soft",
                "vascular_abnormality?",
            ),
        ),
        (
            0.5,
            (
                "other_bone_abnormality+#deg",
                "other_bone_abnormality+#osteopenia",
                "other_bone_abnormality+#scoliosis#kyphosis",
            ),
        ),
        (0.15, ("diaphragm_abnormality+#hernia",)),
    ],
    "bones": [
        (
            1,
            (
                "other_bone_abnormality+#deg",
                "other_bone_abnormality+#scoliosis#kyphosis",
                "other_bone_abnormality+#wedge",
                "other_bone_abnormality+#osteopenia",
                "other_bone_abnormality?",
                "other_bone_abnormality+#lesion",
            ),
        ),
    ],
    "devices": [
        (
            1,
            (
                "support_device+#port",
                "support_device+#line",
                "support_device+#pacer",
                "support_device+#sternotomy",
                "support_device+#clips",
                "support_device+#hardware",
                "support_device+#leads",
                "support_device?",
            ),
        ),
    ],
    "trauma": [
        (
            1,
            (
                "fracture+#acute",
                "fracture+#healed",
                "fracture+#healed",
                "fracture?#acute",
                "fracture+#vertebra other_bone_abnormality+#osteopenia",
            ),
        )
    ],
    "hernia": [(1, ("diaphragm_abnormality+#hernia", "diaphragm_abnormality+#elevated", "diaphragm_abnormality?"))],
    "pneumothorax": [(1, ("pneumothorax+#apical",)), (0.4, ("support_device+#chesttube", "fracture+#acute"))],
    "pneumothorax_doubtful": [(1, ("pneumothorax?#apical",))],
    "hydropneumothorax": [(1, ("pneumothorax+#hydro pleural_effusion+#hydro",)), (0.6, ("support_device+#chesttube",))],
    "cavity": [(1, ("cavity_or_cyst+#cavity lung_opacity+#focal", "cavity_or_cyst+#cavity nodule_or_mass+#mass"))],
    "cavity_doubtful": [(1, ("cavity_or_cyst?#cavity lung_opacity+#focal",))],
    "cyst": [(1, ("cavity_or_cyst+#cyst",))],
    "bulla": [(1, ("cavity_or_cyst+#bulla emphysema_or_hyperinflation+",))],
    "pleura": [(1, ("pleural_thickening+#apex", "pleural_thickening+#base"))],
    "plaque": [(1, ("pleural_thickening+#plaque calcification+",))],
    "pleura_doubtful": [(1, ("pleural_thickening? pleural_effusion?#blunt", "pleural_thickening?#base"))],
    "airway": [
        (
            1,
            (
                "tracheobronchial_abnormality+#bronchiectasis",
                "tracheobronchial_abnormality+#wall",
                "tracheobronchial_abnormality+#deviation",
            ),
        )
    ],
    "airway_doubtful": [(1, ("tracheobronchial_abnormality?#wall",))],
    "mediastinum": [
        (
            1,
            (
                "mediastinal_or_hilar_abnormality+#hilum",
                "mediastinal_or_hilar_abnormality+#wide",
                "mediastinal_or_hilar_abnormality+#shift",
            ),
        )
    ],
    "nodes": [(1, ("calcification+#nodes",))],
    "mediastinum_doubtful": [(1, ("mediastinal_or_hilar_abnormality?#hilum",))],
}

# How many first reports of patients are of which kind: development, validation.
COUNTS: dict[str, tuple[int, int]] = {
    "normal": (90, 35), "heart_failure": (16, 6), "infection": (21, 8), "hazy": (13, 5), "atelectasis": (10, 4),
    "intensive_care": (10, 4), "effusion": (6, 3), "obstructive": (12, 5), "fibrosis": (7, 3), "granuloma": (8, 4),
    "tumour": (8, 3), "enlarged_heart": (8, 3), "ageing": (9, 4), "bones": (5, 3), "devices": (4, 2), "trauma": (5, 2),
    "hernia": (3, 2), "pneumothorax": (3, 2), "pneumothorax_doubtful": (2, 1), "hydropneumothorax": (1, 0),
    "cavity": (2, 1), "cavity_doubtful": (1, 0), "cyst": (1, 0), "bulla": (1, 0), "pleura": (3, 1), "plaque": (1, 0),
    "pleura_doubtful": (2, 1), "airway": (4, 2), "airway_doubtful": (1, 0), "mediastinum": (4, 2), "nodes": (2, 1),
    "mediastinum_doubtful": (2, 1),
}  # fmt: skip

INCIDENTAL: tuple[tuple[float, str], ...] = (
    (0.13, "other_bone_abnormality+#deg"),
    (0.04, "other_bone_abnormality+#osteopenia"),
    (0.03, "other_bone_abnormality+#scoliosis#kyphosis"),
    (0.07, "vascular_abnormality+#calc calcification+"),
    (0.05, "vascular_abnormality+#tortuous#athero#variant"),
    (0.05, "support_device+#clips"),
    (0.04, "support_device+#port"),
    (0.03, "support_device+#pacer"),
    (0.04, "nodule_or_mass+#granuloma calcification+"),
    (0.03, "calcification+#coronary#valve#soft"),
    (0.02, "fracture+#healed"),
    (0.03, "interstitial_abnormality+#scar"),
    (0.03, "diaphragm_abnormality+#elevated"),
    (0.04, "atelectasis?#basal"),
    (0.09, "atelectasis+#basal"),
    (0.06, "emphysema_or_hyperinflation+"),
    (0.05, "interstitial_abnormality+#markings"),
    (0.06, "cardiomegaly+"),
    (0.04, "pleural_effusion?#blunt"),
    (0.04, "pleural_effusion+#uni"),
    (0.02, "lung_opacity+#basal"),
    (0.03, "pneumonia?"),
)

# How often a report says that a finding is not there, where the plan leaves it open.
ABSENT_ODDS: dict[str, float] = {
    "pleural_effusion": 0.85, "pneumothorax": 0.8, "consolidation": 0.65, "lung_opacity": 0.45, "pneumonia": 0.25,
    "pulmonary_edema": 0.45, "cardiomegaly": 0.7, "mediastinal_or_hilar_abnormality": 0.55, "fracture": 0.35,
    "other_bone_abnormality": 0.35, "nodule_or_mass": 0.2, "tracheobronchial_abnormality": 0.14,
    "diaphragm_abnormality": 0.13, "vascular_abnormality": 0.15, "support_device": 0.12, "atelectasis": 0.08,
    "interstitial_abnormality": 0.07, "pleural_thickening": 0.05, "emphysema_or_hyperinflation": 0.05,
    "calcification": 0.03, "cavity_or_cyst": 0.03,
}  # fmt: skip

RARE = (
    "pneumothorax",
    "cavity_or_cyst",
    "tracheobronchial_abnormality",
    "pleural_thickening",
    "mediastinal_or_hilar_abnormality",
)
