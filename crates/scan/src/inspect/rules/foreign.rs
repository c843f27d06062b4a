//! Instructions for the model in other languages: to ignore earlier instructions, or to keep
//! something from the user.

use super::Rule;
use crate::inspect::class::Class::Directive;
use crate::inspect::class::Severity::High;

const fn ignore(first: &'static [&'static str], pattern: &'static str) -> Rule {
    let what = "asks to ignore earlier instructions";
    Rule { class: Directive, own_text: Some(High), data: Some(High), what, first, pattern }
}

const fn secret(first: &'static [&'static str], pattern: &'static str) -> Rule {
    let what = "asks to keep something from the user";
    Rule { class: Directive, own_text: Some(High), data: Some(High), what, first, pattern }
}

pub(super) const RULES: &[Rule] = &[
    // German
    ignore(
        &["ignoriere", "ignorier", "vergiss", "missachte", "ignorieren sie", "vergessen sie"],
        "(?:ignorier\\w*|vergiss|missachte|vergessen)(?: sie)?(?: (?:alle|die|deine|ihre|samtliche|bitte|alles)){0,3} (?:vorherigen|bisherigen|vorigen|obigen|fruheren|vorangegangenen|was|system)[^.]{0,30}?(?:anweisung|instruktion|regel|befehl|vorgabe|prompt|gesagt|nachricht)",
    ),
    secret(
        &[
            "sag dem nutzer",
            "sage dem nutzer",
            "sag dem benutzer",
            "sage dem benutzer",
            "teile dem",
            "informiere den",
            "erwahne",
            "verrate",
            "ohne den benutzer",
            "ohne den nutzer",
            "ohne dem benutzer",
            "ohne dem nutzer",
            "heimlich",
        ],
        "(?:(?:sage?|teile|verrate) dem (?:be)?nutzer[^.]{0,24}(?:nichts|nicht|kein)|informiere den (?:be)?nutzer nicht|erwahne (?:dies|das|es|diese)[^.]{0,30}(?:nicht|nie)|verrate (?:dies|das|es)[^.]{0,20}nicht|ohne de[nm] (?:be)?nutzer (?:zu|etwas|davon)|heimlich (?:an|die|den|das|alle))",
    ),
    // French
    ignore(
        &["ignore", "ignorez", "oublie", "oubliez", "ne tiens pas compte", "ne tenez pas compte"],
        "(?:ignore[sz]?|oublie[sz]?|ne (?:tiens|tenez) pas compte)(?: (?:toutes?|tous|les|tes|vos|des|de)){1,3} (?:instructions?|consignes?|regles?|directives?|messages?)(?: [a-z]{2,10}){0,2} (?:precedent|anterieur|ci.dessus|initial|du systeme|systeme|d avant)",
    ),
    secret(
        &[
            "ne dis pas",
            "ne dites pas",
            "ne dis rien",
            "ne dites rien",
            "n'informe pas",
            "n'informez pas",
            "ne mentionne",
            "ne revele",
            "sans le dire",
            "sans informer",
            "sans prevenir",
            "a l'insu",
        ],
        "(?:ne (?:dis|dites) (?:pas|rien)[^.]{0,30}utilisateur|n.informez? pas[^.]{0,16}utilisateur|ne (?:mentionnez?|revelez?)[^.]{0,24}(?:jamais|pas|rien)[^.]{0,40}|sans (?:le dire|informer|prevenir)[^.]{0,16}utilisateur|a l.insu de l.utilisateur)",
    ),
    // Spanish and Portuguese
    ignore(
        &[
            "ignora",
            "ignore",
            "olvida",
            "ignorar",
            "esqueça",
            "esquece",
            "desconsidere",
            "desconsidera",
            "omite",
            "haz caso omiso",
        ],
        "(?:ignor(?:a|e|ar)|olvid[ae]|esque[cç]\\w|desconsider[ea]|omite|haz caso omiso de)(?: (?:todas?|todos?|las|los|as|os|tus|sus|suas|seus|de|quaisquer|cualquier)){1,3} (?:instruc\\w+|instru\\w+|reglas?|regras?|ordenes|ordens|directrices|diretrizes|mensajes|mensagens|indicaciones)(?: [a-z]{2,10}){0,2} (?:anterior|previ|de arriba|acima|del sistema|do sistema)",
    ),
    secret(
        &[
            "no le digas",
            "no digas",
            "no informes",
            "no menciones",
            "no le cuentes",
            "sin decir",
            "sin informar",
            "sin avisar",
            "não diga",
            "não informe",
            "não conte",
            "não mencione",
            "sem informar",
            "sem avisar",
            "sem o conhecimento",
            "sin que el usuario",
        ],
        "(?:n(?:o|ao) (?:le |lo |la )?(?:digas?|informes?|menciones?|mencione|cuentes|conte|reveles?|revele)[^.]{0,40}(?:usuario|nadie|ninguem|a nadie|esto|isso|isto)|(?:sin|sem) (?:decir|informar|avisar)[^.]{0,16}usuario|sem o conhecimento do usuario|sin que el usuario (?:lo )?(?:sepa|vea))",
    ),
    // Italian, Dutch, Polish, Turkish, Indonesian, Vietnamese
    ignore(
        &[
            "ignora",
            "dimentica",
            "negeer",
            "vergeet",
            "zignoruj",
            "zapomnij",
            "önceki",
            "abaikan",
            "bo qua",
            "lo đi",
        ],
        "(?:(?:ignora|dimentica)(?: (?:tutte|tutti|le|i|ogni)){1,3} (?:istruzion|regol|direttiv|messagg)\\w+[^.]{0,16}(?:precedent|sopra|di sistema)|(?:negeer|vergeet)(?: (?:alle|de|je|uw|al)){0,3} (?:vorige|eerdere|voorgaande|bovenstaande)[^.]{0,10}(?:instructie|regel|opdracht)|(?:zignoruj|zapomnij)(?: o)?(?: wszystkie| wszystkich)? (?:poprzedni|wczesniejs|powyzs)\\w+ (?:instrukcj|polece|zasad)|onceki (?:tum )?(?:talimat|komut|yonerge)\\w*[^.]{0,16}(?:yok say|gormezden|unut|dikkate alma)|abaikan (?:semua )?(?:instruksi|perintah|aturan)[^.]{0,12}(?:sebelum|di atas)|(?:bo qua|lo đi|lo di)[^.]{0,20}(?:huong dan|chi dan|chi thi|lenh|hướng dẫn)[^.]{0,12}(?:truoc|tren))",
    ),
    secret(
        &[
            "non dire",
            "non informare",
            "senza dire",
            "senza informare",
            "vertel de gebruiker",
            "zonder de gebruiker",
            "nie mów",
            "nie informuj",
            "kullanıcıya",
            "jangan beri",
            "jangan katakan",
            "đừng nói",
            "không nói",
        ],
        "(?:non (?:dire|informare|menzionare)[^.]{0,24}utente|senza (?:dire|informare)[^.]{0,16}utente|vertel de gebruiker[^.]{0,16}niet|zonder de gebruiker te|nie (?:mow|informuj)[^.]{0,16}uzytkownik|kullan.c.ya[^.]{0,24}(?:soyleme|bahsetme|bildirme)|jangan (?:beri ?tahu|katakan)[^.]{0,16}pengguna|(?:đung|khong) noi[^.]{0,20}nguoi dung)",
    ),
    // Russian and Ukrainian
    ignore(
        &["игнорируй", "проигнорируй", "забудь", "ігноруй", "не обращай внимания", "отмени"],
        "(?:(?:про)?игнорируи(?:те)?|забудь(?:те)?|ігноруи(?:те)?|отмени|не обращаи внимания на).{0,40}?(?:предыдущ|прежн|прошл|все|всі|попередн|выше|системн).{0,30}?(?:инструкц|указан|правил|команд|сообщен|інструкц|вказівк|промпт)",
    ),
    secret(
        &[
            "не говори",
            "не сообщай",
            "не рассказывай",
            "не упоминай",
            "не кажи",
            "не повідомляй",
            "не раскрывай",
            "без ведома",
            "втайне",
            "тайно",
            "незаметно",
        ],
        "(?:не (?:говори|сообщаи|рассказываи|упоминаи|кажи|повідомляи|раскрываи)\\S{0,4}.{0,60}?(?:пользовател|користувач|об этом|никому|это)|без ведома пользователя|(?:втаине|таино|незаметно).{0,40}?(?:отправ|прочита|переда|скопиру|вызов))",
    ),
    // Chinese
    ignore(
        &["忽略", "無視", "无视", "忘记", "忘記", "不要理会", "请忽略"],
        "(?:请?忽略|無視|无视|忘记|忘記|不要理会).{0,24}?(?:之前|以前|以上|先前|上述|所有|前面|系统|系統).{0,24}?(?:指令|指示|命令|规则|規則|提示|说明|說明|要求)",
    ),
    secret(
        &[
            "不要告诉",
            "不要告訴",
            "别告诉",
            "不得告知",
            "不要向用户",
            "不要让用户",
            "不要讓用戶",
            "不要提及",
            "对用户保密",
            "瞒着用户",
            "悄悄",
            "秘密地",
            "偷偷",
        ],
        "(?:(?:不要|别)(?:告诉|告訴).{0,12}?(?:用户|用戶|使用者|任何人|他)|不得告知用户|不要向用户.{0,12}?(?:提|说|透露|展示)|不要(?:让用户|讓用戶)(?:知道|看到|發現|发现)|不要提及(?:此|这|該|该)|对用户保密|瞒着用户|(?:悄悄|秘密|偷偷)地?.{0,12}?(?:发送|读取|读|上传|調用|调用|收集|复制))",
    ),
    // Japanese
    ignore(
        &["これまで", "以前の", "前の", "上記の", "すべての", "全ての"],
        "(?:これまで|以前の|前の|上記の|すべての|全ての).{0,30}?(?:指示|命令|ルール|プロンプト|指令).{0,12}?(?:無視|忘れ)",
    ),
    secret(
        &["ユーザーに", "ユーザには", "利用者に", "ユーザーへ"],
        "(?:ユーザー?|利用者)(?:に|へ)は?.{0,40}?(?:言わない|知らせない|伝えない|教えない|明かさない|言及しない|通知しない|話さない)",
    ),
    // Korean
    ignore(
        &["이전", "위의", "앞의", "모든"],
        "(?:이전|위의|앞의|모든).{0,48}?(?:지시|명령|규칙|프롬프트|지침).{0,24}?(?:무시|잊)",
    ),
    secret(
        &["사용자에게", "유저에게"],
        "(?:사용자|유저)에게.{0,60}?(?:알리지|말하지|언급하지|공개하지|밝히지)",
    ),
    // Arabic, Hebrew, Persian, Hindi
    ignore(
        &["تجاهل", "انس", "התעלם", "שכח", "نادیده", "दुर्लक्ष", "पिछले", "अनदेखा", "सभी पिछले"],
        "(?:(?:تجاهل|انس).{0,30}?(?:التعليمات|الأوامر|الاوامر|القواعد|الإرشادات).{0,20}?(?:السابق|أعلاه)|(?:התעלם|שכח).{0,24}?(?:הוראות|הנחיות|ההוראות|ההנחיות).{0,16}?(?:קודמות|הקודמות|לעיל)|(?:सभी )?पिछले.{0,40}?(?:निर्देश|आदेश).{0,40}?(?:अनदेखा|नज|भूल)|अनदेखा.{0,40}निर्देश)",
    ),
    secret(
        &["لا تخبر", "دون إخبار", "بدون علم", "אל תספר", "אל תגלה", "उपयोगकर्ता को"],
        "(?:لا تخبر.{0,20}?المستخدم|دون (?:إخبار|اخبار) المستخدم|بدون علم المستخدم|אל (?:תספר|תגלה).{0,20}?משתמש|उपयोगकर्ता को.{0,60}?(?:न बताएं|मत बता|ना बता))",
    ),
];
