"""Addresses: every form in which somebody could hide where a request is to go."""

from ipaddress import ip_address

import pytest

from farthing.core.addresses import BadTarget, Target, is_allowed, read_target

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "2606:4700:4700::1111",
    "2a00:1450::1",
    "::ffff:1.1.1.1",
    "64:ff9b::1.1.1.1",
    "64:ff9b::808:808",
    "2002:101:101::1",
]
PRIVATE = [
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "::1",
    "fc00::1",
    "fd12:3456::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:10.1.2.3",
    "64:ff9b::10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1:a00:1:0:a00:1",
    "2002:7f00:1::1",
    "2002:c0a8:101::",
    "2a00:1450::5efe:192.168.0.1",
    "2a00:1450::200:5efe:10.0.0.1",
]
NEVER = [
    "0.0.0.0",  # noqa: S104 - nothing listens there
    "0.1.2.3",
    "169.254.0.1",
    "169.254.169.254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::2",
    "::127.0.0.1",
    "::169.254.169.254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "100::1",
    "2001:db8::1",
    "2001:10::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::ffff:0.0.0.0",
    "::ffff:224.0.0.1",
    "::ffff:0:169.254.169.254",
    "64:ff9b::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::169.254.169.254",
    "64:ff9b:1:a9fe:a9:fe00::",
    "2002:a9fe:a9fe::1",
    "2002:e000:1::",
    "2001:0:a9fe:a9fe::1",
    "2001:0:101:101:0:0:5601:5601",
    "2a00:1450::5efe:169.254.169.254",
    "2606:4700::1%1",
    "::ffff:1.1.1.1%1",
]


@pytest.mark.parametrize("text", PUBLIC)
def test_public_addresses_are_always_allowed(text: str) -> None:
    for private_ok in (False, True):
        assert is_allowed(ip_address(text), private_ok=private_ok)


@pytest.mark.parametrize("text", PRIVATE)
def test_private_addresses_are_allowed_only_where_the_setting_says_so(text: str) -> None:
    assert not is_allowed(ip_address(text), private_ok=False)
    assert is_allowed(ip_address(text), private_ok=True)


@pytest.mark.parametrize("text", NEVER)
def test_some_addresses_are_never_allowed(text: str) -> None:
    for private_ok in (False, True):
        assert not is_allowed(ip_address(text), private_ok=private_ok)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://shop.example", Target("https", "shop.example", 443, "/")),
        ("http://Shop.Example:8080/a/b?c=d", Target("http", "shop.example", 8080, "/a/b?c=d")),
        ("HTTPS://shop.example/", Target("https", "shop.example", 443, "/")),
        ("http://127.0.0.1:80/x", Target("http", "127.0.0.1", 80, "/x")),
        ("http://[::1]:8000/", Target("http", "::1", 8000, "/")),
        ("http://[::FFFF:1.2.3.4]/", Target("http", "::ffff:1.2.3.4", 80, "/")),
        ("https://xn--bcher-kva.example/?q", Target("https", "xn--bcher-kva.example", 443, "/?q")),
        ("https://a_b.example/", Target("https", "a_b.example", 443, "/")),
        ("https://1password.example/", Target("https", "1password.example", 443, "/")),
    ],
)
def test_an_address_is_taken_apart(url: str, target: Target) -> None:
    assert read_target(url) == target


def test_a_target_names_its_host_as_requests_do() -> None:
    assert read_target("https://shop.example:443/").authority == "shop.example"
    assert read_target("http://shop.example:443/").authority == "shop.example:443"
    assert read_target("http://[::1]:8000/").authority == "[::1]:8000"


@pytest.mark.parametrize(
    ("code", "urls"),
    [
        (
            "malformed_host",
            [
                "http://2130706433/",
                "http://0x7f000001/",
                "http://0X7F.1/",
                "http://0177.0.0.1/",
                "http://017700000001/",
                "http://127.1/",
                "http://127.0.1/",
                "http://127.0.0.01/",
                "http://127.0.0.0x1/",
                "http://127.0.0.1./",
                "http://1.2.3.4.5/",
                "http://256.1.1.1/",
                "http://shop.example./",
                "http://shop..example/",
                "http://-shop.example/",
                "http://%31%32%37.0.0.1/",
                "http://shop%2eexample/",
                "http://[fe80::1%25eth0]/",
                "http://[fe80::1%eth0]/",
                "http://[::1/",
                "http://::1/",
                "http://[127.0.0.1]/",
                "http://[v1.x]/",
                "http://[::1]x/",
                "http:///path",
                "http://",
                "http://:80/",
                "https://?q",
                f"https://{'a' * 64}.example/",
                f"https://{'a.' * 130}example/",
            ],
        ),
        (
            "credentials_in_url",
            [
                "http://user@shop.example/",
                "http://user:secret@shop.example/",
                "http://@shop.example/",
                "http://shop.example:80@127.0.0.1/",
                "http://127.0.0.1@shop.example/",
            ],
        ),
        (
            "malformed_port",
            [
                "http://shop.example:/",
                "http://shop.example:0/",
                "http://shop.example:65536/",
                "http://shop.example:080/",
                "http://shop.example:x/",
                "http://shop.example:80:80/",
                "http://[::1]:-1/",
            ],
        ),
        (
            "not_http",
            [
                "ftp://shop.example/",
                "file:///etc/passwd",
                "shop.example",
                "//shop.example/",
                "http:shop.example",
                "http:/shop.example",
                "gopher://shop.example/",
                "javascript:alert(1)",
                "data:,x",
            ],
        ),
        ("fragment_in_url", ["http://shop.example/#x", "http://shop.example#@127.0.0.1/"]),
        (
            "invalid_format",
            [
                "",
                "http://shop.example/a b",
                " http://shop.example/",
                "http://shop.example\\@127.0.0.1/",
                "http://bücher.example/",
                "http://１２７.0.0.1/",  # noqa: RUF001 - they are meant to look alike
                "http://127。0。0。1/",
                "http://shop.example/\n",
                f"http://shop.example/{'x' * 2000}",
            ],
        ),
    ],
)
def test_what_names_no_place_is_refused(code: str, urls: list[str]) -> None:
    for url in urls:
        with pytest.raises(BadTarget) as refused:
            read_target(url)
        assert refused.value.code == code, url
