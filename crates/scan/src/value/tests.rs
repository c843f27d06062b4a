//! Values at the limits.

use super::{is_harmless_field, is_placeholder, is_random, is_secret};
use crate::name::ValueKind;

#[test]
fn passwords() {
    for value in ["hunter22", "correct-horse-1", "p@ssw@rd!", "12345678", "qWeRtYuIoPaSdFgH"] {
        assert!(is_secret(value, ValueKind::Password), "{value}");
    }
    for value in [
        "hunter2",
        "required",
        "correct-horse-battery",
        "SuperSecretPassword",
        "my pass word 1",
        "11111111",
        "$PASSWORD1",
        "%PASSWORD1%",
        "<password-1>",
        "changeme123",
        "your_password_1",
        "/etc/app/password1",
        "https://vault/v1/x",
        "process.env.PASS1",
        "пароль-обязателен",
    ] {
        assert!(!is_secret(value, ValueKind::Password), "{value}");
    }
}

#[test]
fn keys() {
    for value in [
        "4f9a0c1e7b2d",
        "abc12345",
        "qWeRtYuIoPaSdFgH",
        "550e8400-e29b-41d4-a716-446655440000",
        "/x9Kq3Zp+9Lm2Vn8Rt5Yw7",
        "django-insecure-3@x&9k!q2w#e$r%t",
    ] {
        assert!(is_secret(value, ValueKind::Key), "{value}");
        assert!(is_secret(value, ValueKind::Token), "{value}");
    }
    for value in [
        "1234567890",
        "my-service-2024",
        "ApiKeyV2Config",
        "settings.API_KEY_2",
        "db/credentials/v2",
        "key2::store::Token123",
        "hunter22",
    ] {
        assert!(!is_secret(value, ValueKind::Key), "{value}");
    }
}

#[test]
fn fields() {
    for value in ["", "  ", "any", "none", "${TOKEN}", "[REDACTED:jwt]", "********"] {
        assert!(is_harmless_field(value, ValueKind::Key), "{value}");
    }
    for value in ["x", "hunter", "correct horse battery staple"] {
        assert!(!is_harmless_field(value, ValueKind::Password), "{value}");
    }
    // A token of a model or a parser.
    assert!(is_harmless_field(" hello", ValueKind::Token));
    assert!(!is_harmless_field("a1b2c3", ValueKind::Token));
    assert!(!is_harmless_field("abcdefghij", ValueKind::Token));
}

#[test]
fn placeholders() {
    for value in ["${X}", "{{ token }}", "$(pass show x)", "$env:TOKEN", "xxxxxxxx", "Password"] {
        assert!(is_placeholder(value), "{value}");
    }
    for value in ["$tr0ng!pass", "password1", "{abc"] {
        assert!(!is_placeholder(value), "{value}");
    }
}

#[test]
fn filler_is_not_random() {
    assert!(is_random("Zs3x9QmT7uWk"));
    assert!(!is_random("xxxxxxxxxxxx1"));
    assert!(!is_random("your-key-goes-here"));
}
