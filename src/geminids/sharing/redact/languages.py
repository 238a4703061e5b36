"""The words for passwords, keys and codes in the languages that people speak with agents.

Patterns look at bytes, in which only the letters of English have a large and a small form: of any other
letter both forms are written out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ENGLISH = ("password", "passphrase", "passcode", "passwd", "pwd", "pw", "pin code", "pin")
PASSWORDS = (
    *("passwort", "kennwort", "mot de passe", "mdp", "contraseña", "contrasena", "contrasenya", "senha"),
    *("palavra-passe", "parola", "parolă", "hasło", "haslo", "heslo", "jelszó", "jelszo", "wachtwoord"),
    *("lösenord", "passord", "adgangskode", "kodeord", "salasana", "şifre", "şifresi", "sifre", "lozinka"),
    *("zaporka", "geslo", "parool", "slaptažodis", "mật khẩu", "kata sandi", "kata laluan", "lykilorð"),
    *("пароль", "пароля", "паролем", "парола", "лозинка", "κωδικός", "συνθηματικό", "סיסמה", "סיסמא"),
    *("كلمة المرور", "كلمة السر", "رمز عبور", "گذرواژه", "पासवर्ड", "รหัสผ่าน", "密码", "密碼", "口令"),
    *("パスワード", "暗証番号", "비밀번호", "암호", "패스워드"),
)
"""German, French, Spanish, Catalan, Portuguese, Italian, Romanian, Polish, Czech, Hungarian, Dutch, Swedish,
Norwegian, Danish, Finnish, Turkish, South Slavic, Estonian, Lithuanian, Vietnamese, Indonesian, Malay,
Icelandic, Russian, Ukrainian, Bulgarian, Greek, Hebrew, Arabic, Persian, Hindi, Thai, Chinese, Japanese,
Korean."""
KEYS = (
    *(
        "schlüssel",
        "zugangsschlüssel",
        "clé",
        "llave",
        "clave",
        "chave",
        "chiave",
        "klucz",
        "klíč",
        "sleutel",
    ),
    *(
        "nyckel",
        "anahtar",
        "ключ",
        "токен",
        "κλειδί",
        "密钥",
        "密鑰",
        "秘钥",
        "私钥",
        "令牌",
        "金鑰",
        "授权码",
    ),
    *("キー", "トークン", "鍵", "토큰", "키"),
)
"""The same for keys and tokens: as in English, what stands behind them must look random."""
ENGLISH_CODES = (
    *(
        "one-time code",
        "one-time password",
        "one time password",
        "one time code",
        "otp",
        "totp",
        "2fa",
        "mfa",
    ),
    *("two-factor code", "authenticator", "verification code", "security code", "login code", "sms code"),
    *("confirmation code", "auth code", "authentication code", "access code", "6-digit code", "6 digit code"),
    *("six-digit code", "passcode", "pin code", "pin"),
)
CODES = (
    *("bestätigungscode", "sicherheitscode", "einmalcode", "einmalpasswort", "code de vérification"),
    *("código de verificación", "codigo de verificacion", "código de verificação", "codice di verifica"),
    *("kod weryfikacyjny", "doğrulama kodu", "код подтверждения", "код из смс", "код авторизации"),
    *("验证码", "驗證碼", "動態密碼", "动态密码", "認証コード", "確認コード", "인증번호", "인증 코드"),
)
"""Codes that work once, or that only few have to guess at: digits alone."""


def pattern(words: Iterable[str]) -> bytes:
    """A pattern of bytes for any of the words, of those that begin alike the longest first."""
    return b"|".join(_word(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def keywords(words: Iterable[str]) -> tuple[bytes, ...]:
    """How the words begin in a text whose English letters are all small: the first of several alone."""
    forms = (form for word in words for form in (word.lower(), word.capitalize(), word.upper()))
    return tuple(dict.fromkeys(re.split(rb"[ -]", form.encode().lower())[0] for form in forms))


def _word(word: str) -> bytes:
    return b"".join(_letter(letter) for letter in word)


def _letter(letter: str) -> bytes:
    if letter.isascii():
        return b"[ \\t]{1,2}" if letter == " " else re.escape(letter).encode()
    forms = sorted({letter.lower(), letter.upper()})
    written = ["".join(f"\\x{byte:02x}" for byte in form.encode()) for form in forms if len(form) == 1]
    return f"(?:{'|'.join(written)})".encode() if len(written) > 1 else written[0].encode()


def names_password(name: str) -> bool:
    """Whether a name ends with a word for a password that is not English: `db_passwort`, `密码`."""
    small = name.lower().replace("_", " ").strip()
    return any(
        small == word or (small.endswith(word) and (len(word) > _SHORT or not word.isascii()))
        for word in _WITHOUT_BLANKS
    )


_SHORT = 5
"""Letters of words that others may well end with; those that are no ASCII are all their own."""
_WITHOUT_BLANKS = tuple({form for word in PASSWORDS for form in (word, word.replace(" ", ""))})
