//! Secrets and personal data in their real forms, generated on demand: no file contains a key.

/// Pseudo-random numbers that are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn of(&mut self, alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| letters[self.below(letters.len())]).collect()
    }

    fn digits(&mut self, length: usize) -> String {
        self.of("0123456789", length)
    }

    fn number(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }
}

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const HEX: &str = "0123456789abcdef";

/// One of each kind: its prefix, and itself.
pub(crate) fn plant(detector: &str, dice: &mut Dice) -> Option<(String, String)> {
    let bare = |text: String| Some((String::new(), text));
    let behind = |lead: &str, text: String| Some((lead.to_owned(), text));
    match detector {
        "private_key" => {
            let lines: Vec<String> = (0..6).map(|_| dice.of(BASE64, 64)).collect();
            let kind = ["RSA PRIVATE", "PRIVATE", "OPENSSH PRIVATE", "EC PRIVATE"][dice.below(4)];
            let (a, b) = ("-----BEGIN", "-----END");
            bare(format!("{a} {kind} KEY-----\n{}\n{b} {kind} KEY-----", lines.join("\n")))
        }
        "jwt" => {
            let head = ["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJhbGciOiJSUzI1NiJ9"];
            let head = head[dice.below(2)];
            bare(format!("{head}.eyJ{}.{}", dice.of(URL, 60), dice.of(URL, 43)))
        }
        "aws_access_key_id" => {
            bare(format!("AK{}{}", "IA", dice.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)))
        }
        "aws_secret_access_key" => behind("aws_secret_access_key = ", dice.of(BASE64, 40)),
        "github_token" => {
            bare(format!("gh{}{}", ["p_", "o_", "s_"][dice.below(3)], dice.of(ALNUM, 36)))
        }
        "gitlab_token" => bare(format!("glp{}{}", "at-", dice.of(URL, 20))),
        "slack_token" => bare(format!(
            "xox{}{}-{}-{}",
            "b-",
            dice.digits(12),
            dice.digits(13),
            dice.of(ALNUM, 24)
        )),
        "slack_webhook" => behind(
            "https://hooks.slack.com/services/",
            format!(
                "T{}/B{}/{}",
                dice.of("ABCDEF0123456789", 9),
                dice.of("ABCDEF0123456789", 9),
                dice.of(ALNUM, 24)
            ),
        ),
        "stripe_key" => bare(format!("sk_{}{}", "live_", dice.of(ALNUM, 24))),
        "anthropic_key" => bare(format!("sk-{}{}", "ant-api03-", dice.of(URL, 93))),
        "openai_key" => bare(format!("sk-{}{}", "proj-", dice.of(URL, 120))),
        "google_api_key" => bare(format!("AI{}{}", "zaSy", dice.of(URL, 33))),
        "google_oauth_token" => bare(format!("ya{}{}", "29.a0", dice.of(URL, 60))),
        "google_client_secret" => bare(format!("GOC{}{}", "SPX-", dice.of(URL, 28))),
        "npm_token" => bare(format!("np{}{}", "m_", dice.of(ALNUM, 36))),
        "pypi_token" => bare(format!("py{}{}", "pi-AgEIcHlwaS5vcmc", dice.of(URL, 120))),
        "huggingface_token" => bare(format!(
            "h{}{}",
            "f_",
            dice.of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 34)
        )),
        "sendgrid_key" => bare(format!("S{}{}.{}", "G.", dice.of(URL, 22), dice.of(URL, 43))),
        "twilio_key" => bare(format!("S{}{}", "K", dice.of(HEX, 32))),
        "digitalocean_token" => bare(format!("do{}{}", "p_v1_", dice.of(HEX, 64))),
        "databricks_token" => bare(format!("da{}{}", "pi", dice.of(HEX, 32))),
        "azure_key" => behind(
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=",
            format!("{}==", dice.of(BASE64, 86)),
        ),
        "azure_sas_signature" => behind(
            "https://a.blob.core.windows.net/c?sv=2022-11-02&sig=",
            format!("{}%3D", dice.of(ALNUM, 43)),
        ),
        "grafana_token" => bare(format!("gl{}{}_{}", "sa_", dice.of(ALNUM, 32), dice.of(HEX, 8))),
        "vault_token" => bare(format!("hv{}{}", "s.", dice.of(URL, 90))),
        "groq_key" => bare(format!("gs{}{}", "k_", dice.of(ALNUM, 52))),
        "xai_key" => bare(format!("xa{}{}", "i-", dice.of(ALNUM, 80))),
        "shopify_token" => bare(format!("shp{}{}", "at_", dice.of(HEX, 32))),
        "telegram_bot_token" => bare(format!(
            "{}:A{}{}",
            dice.number(100_000_000, 9_999_999_999),
            "A",
            dice.of(URL, 33)
        )),
        "callgate_key" => bare(format!("c{}{}", "g_", dice.of(URL, 43))),
        "url_password" => behind("postgres://app:", dice.of(ALNUM, 14)),
        "basic_auth" => behind("Authorization: Basic ", format!("YWRtaW46{}", "aHVudGVyMg==")),
        "bearer_token" => behind("Authorization: Bearer ", dice.of(ALNUM, 40)),
        "authorization" => behind("Authorization: ApiKey ", dice.of(ALNUM, 40)),
        "user_option" => behind("curl -u admin:", format!("{}!9x", dice.of(ALNUM, 10))),
        "secret_assignment" => {
            let names =
                ["DB_PASSWORD=", "\"api_key\": \"", "secret_token = '", "export AUTH_TOKEN="];
            behind(names[dice.below(4)], format!("{}7q4", dice.of(ALNUM, 20)))
        }
        _ => personal(detector, dice),
    }
}

fn personal(detector: &str, dice: &mut Dice) -> Option<(String, String)> {
    let text = match detector {
        "email" => {
            let (names, hosts) = (
                ["ann.lee", "bob", "c.diaz+news", "d_o'hara"],
                ["acme.org", "mail.acme.co.uk", "uni-bonn.de"],
            );
            format!("{}{}@{}", names[dice.below(4)], dice.number(1, 99), hosts[dice.below(3)])
        }
        "phone" => match dice.below(4) {
            0 => format!("+49 30 {} {}", dice.digits(3), dice.digits(4)),
            1 => format!(
                "+1 ({}) {}-{}",
                dice.number(201, 989),
                dice.number(200, 989),
                dice.digits(4)
            ),
            2 => format!("+4420{}", dice.number(30_000_000, 89_999_999)),
            _ => format!("{}-{}-{}", dice.number(201, 989), dice.number(200, 989), dice.digits(4)),
        },
        "card" => {
            let prefix = ["4", "51", "55", "2221", "6011", "37", "36"][dice.below(7)];
            let length = match prefix {
                "37" => 15,
                "36" => 14,
                _ => 16,
            };
            let body = format!("{prefix}{}", dice.digits(length - 1 - prefix.len()));
            let number = with_luhn(&body);
            match length == 16 && dice.below(2) == 0 {
                true => [&number[..4], &number[4..8], &number[8..12], &number[12..]].join(" "),
                false => number,
            }
        }
        "iban" => {
            let (country, length) = [("DE", 18), ("ES", 20), ("NO", 11), ("PL", 24)][dice.below(4)];
            let body = dice.digits(length);
            let check = 98 - remainder(&format!("{body}{}00", numbered(country)), 97);
            format!("{country}{check:02}{body}")
        }
        "us_ssn" => {
            format!("{}-{}-{}", dice.number(100, 665), dice.number(10, 99), dice.number(1000, 9999))
        }
        "ca_sin" => {
            let number = with_luhn(&format!("{}{}", dice.number(1, 7), dice.digits(7)));
            [&number[..3], &number[3..6], &number[6..]].join("-")
        }
        "uk_nino" => format!(
            "{} {} {} {} {}",
            ["AB", "CE", "SW", "YZ"][dice.below(4)],
            dice.digits(2),
            dice.digits(2),
            dice.digits(2),
            dice.of("ABCD", 1)
        ),
        "de_steuer_id" => steuer_id(dice),
        "fr_nir" => {
            let number = format!(
                "{}{:02}{:02}{:02}{}{}",
                dice.number(1, 2),
                dice.number(0, 99),
                dice.number(1, 12),
                dice.number(10, 89),
                dice.digits(3),
                dice.digits(3)
            );
            let key = 97 - remainder(&number, 97);
            format!("{number}{key:02}")
        }
        "es_dni" => {
            let number = dice.number(10_000_000, 99_999_999);
            let letter = "TRWAGMYFPDXBNJZSQVHLCKE".as_bytes()[number % 23];
            format!("{number}{}", char::from(letter))
        }
        "it_codice_fiscale" => "RSSMRA85T10A562S".to_owned(),
        "nl_bsn" => {
            let number = until(
                dice,
                |dice| dice.digits(9),
                |text| {
                    let digits = digits(text);
                    let sum: u32 =
                        digits[..8].iter().zip([9, 8, 7, 6, 5, 4, 3, 2]).map(|(a, b)| a * b).sum();
                    sum > 0 && sum % 11 == digits[8]
                },
            );
            return Some(("BSN: ".to_owned(), number));
        }
        "se_personnummer" => {
            let number = with_luhn(&format!(
                "{:02}{:02}{:02}{}",
                dice.number(0, 99),
                dice.number(1, 12),
                dice.number(1, 28),
                dice.digits(3)
            ));
            format!("{}-{}", &number[..6], &number[6..])
        }
        "pl_pesel" => until(
            dice,
            |dice| {
                format!(
                    "{:02}{:02}{:02}{}",
                    dice.number(0, 99),
                    dice.number(1, 12),
                    dice.number(1, 28),
                    dice.digits(5)
                )
            },
            |text| {
                let sum: u32 = digits(text)
                    .iter()
                    .zip([1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1])
                    .map(|(a, b)| a * b)
                    .sum();
                sum.is_multiple_of(10)
            },
        ),
        "ch_ahv" => until(
            dice,
            |dice| format!("756.{}.{}.{}", dice.digits(4), dice.digits(4), dice.digits(2)),
            |text| {
                let sum: u32 =
                    digits(text).iter().zip([1, 3].iter().cycle()).map(|(a, b)| a * b).sum();
                sum.is_multiple_of(10)
            },
        ),
        "in_aadhaar" => {
            ["2341 2341 2346", "4991 1866 5246", "2000 0000 0007"][dice.below(1)].to_owned()
        }
        "br_cpf" => {
            let body = dice.digits(9);
            let check = |text: &str| {
                let count = u32::try_from(text.len()).unwrap() + 1;
                let sum: u32 = digits(text).iter().zip((2..=count).rev()).map(|(a, b)| a * b).sum();
                sum * 10 % 11 % 10
            };
            let first = check(&body);
            let second = check(&format!("{body}{first}"));
            format!("{}.{}.{}-{first}{second}", &body[..3], &body[3..6], &body[6..])
        }
        "cn_resident_id" => {
            let body = format!(
                "110105{}{:02}{:02}{}",
                dice.number(1940, 2010),
                dice.number(1, 12),
                dice.number(1, 28),
                dice.digits(3)
            );
            let weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
            let sum: u32 = digits(&body).iter().zip(weights).map(|(a, b)| a * b).sum();
            let check = "10X98765432".as_bytes()[(sum % 11) as usize];
            format!("{body}{}", char::from(check))
        }
        "ip_address" => format!("203.0.{}.{}", dice.number(0, 255), dice.number(1, 254)),
        _ => return None,
    };
    Some((String::new(), text))
}

fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|letter| letter.to_digit(10)).collect()
}

/// Tries until it holds: one of eleven does.
fn until(
    dice: &mut Dice,
    make: impl Fn(&mut Dice) -> String,
    holds: impl Fn(&str) -> bool,
) -> String {
    loop {
        let text = make(dice);
        if holds(&text) {
            return text;
        }
    }
}

fn with_luhn(body: &str) -> String {
    let sum: u32 = digits(body)
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| if at % 2 == 0 { digit * 2 / 10 + digit * 2 % 10 } else { *digit })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

fn numbered(country: &str) -> String {
    country.chars().map(|letter| letter.to_digit(36).unwrap().to_string()).collect()
}

fn remainder(number: &str, by: u32) -> u32 {
    digits(number).iter().fold(0, |rest, digit| (rest * 10 + digit) % by)
}

/// Ten digits of which one occurs twice, and the check digit.
fn steuer_id(dice: &mut Dice) -> String {
    loop {
        let mut left: Vec<u32> = (0..10).collect();
        let mut number: Vec<u32> = (0..9).map(|_| left.remove(dice.below(left.len()))).collect();
        number.push(number[dice.below(4)]);
        if number[0] == 0 {
            continue;
        }
        let product = number.iter().fold(10, |product, digit| {
            let sum = (digit + product) % 10;
            (if sum == 0 { 10 } else { sum }) * 2 % 11
        });
        number.push((11 - product) % 10);
        return number.iter().map(ToString::to_string).collect();
    }
}
