import { describe, expect, test } from 'vitest';
import { judgeUrl, literalAddress, mayConnect, reachOf, sameAddress } from './urls.ts';

/** Every way known to us of naming a host inside. None may pass as an endpoint. */
const REFUSED_HOSTS = [
  // Loopback and "this host", in every notation that URL parsers know.
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.0x0.0x0.0x1', '0177.0.0.1'],
  ...['0177.0.0.01', '017700000001', '0x7f.1', '127.0.0.1.', '127.255.255.254', '127.0.0.2', '0', '0.0.0.0'],
  ...[
    '0x0',
    '00',
    '0.0.0.0.',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '１２７.0.0.1',
    '127%2e0%2e0%2e1',
    '%31%32%37.0.0.1',
  ],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0001]', '[0::0]'],
  // Private networks, carriers' networks, link-local.
  ...['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.255'],
  ...['0x0a000001', '167772161', '012.0.0.1', '3232235521', '100.64.0.1', '100.127.255.255'],
  ...['169.254.0.1', '169.254.255.255', '[fe80::1]', '[febf::1]', '[fec0::1]', '[fc00::1]', '[fd12:3456::1]'],
  // Metadata of clouds.
  ...[
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.170.2',
    '169.254.169.123',
  ],
  ...['100.100.100.200', '168.63.129.16', '192.0.0.192', '[fd00:ec2::254]', '[fe80::a9fe:a9fe]'],
  ...['metadata.google.internal', 'metadata.google.internal.', 'instance-data.ec2.internal'],
  // Multicast, broadcast, documentation, benchmarking, reserved, anycast relays.
  ...[
    '224.0.0.1',
    '239.255.255.255',
    '255.255.255.255',
    '240.0.0.1',
    '250.1.2.3',
    '192.0.2.1',
    '198.51.100.7',
  ],
  ...['203.0.113.9', '198.18.0.1', '198.19.255.255', '192.0.0.1', '192.0.0.8', '192.88.99.1', '192.31.196.1'],
  ...['192.52.193.1', '192.175.48.1', '0.1.2.3', '0.255.255.255'],
  ...['[ff02::1]', '[ff0e::1]', '[2001:db8::1]', '[3fff::1]', '[100::1]', '[5f00::1]', '[4000::1]', '[::2]'],
  // IPv4 inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP, ORCHID.
  ...[
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::ffff:10.0.0.1]',
    '[::ffff:169.254.169.254]',
    '[::ffff:8.8.8.8]',
  ],
  ...[
    '[::127.0.0.1]',
    '[::7f00:1]',
    '[::8.8.8.8]',
    '[::ffff:0:127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
  ],
  ...[
    '[64:ff9b::8.8.8.8]',
    '[64:ff9b:1::7f00:1]',
    '[64:ff9b:1::a00:1]',
    '[2002:7f00:1::]',
    '[2002:a00:1::1]',
  ],
  ...[
    '[2002:808:808::1]',
    '[2001::7f00:1]',
    '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
    '[2001:10::1]',
    '[2001:20::1]',
  ],
  ...['[2600::5efe:127.0.0.1]', '[2600::200:5efe:10.0.0.1]'],
  // Names that mean something inside a network only.
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'LocalHost.',
    'foo.localhost',
    'localhost.localdomain',
    'ip6-localhost',
  ],
  ...[
    'intranet',
    'db',
    'kubernetes',
    'redis.svc',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ],
  ...[
    'printer.local',
    'nas.lan',
    'router.home',
    'router.home.arpa',
    'wiki.corp',
    'api.internal',
    'a.private',
  ],
  ...['x.intranet', 'ｌｏｃａｌｈｏｓｔ', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'localho%73t', 'a.b.INTERNAL', 'host.docker.internal'],
];

/** URLs that are unacceptable regardless of their host. */
const REFUSED_URLS = [
  ...[
    '',
    'example.com',
    '//example.com/',
    '/hook',
    'https:',
    'https://',
    'https:///hook',
    'https:example.com',
  ],
  ...[
    'https:/example.com/',
    'https:\\\\example.com\\',
    'https://example.com\\@127.0.0.1/',
    'http://example.com/',
  ],
  ...[
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'data:text/plain,x',
    'javascript:alert(1)',
  ],
  ...['ws://example.com/', 'wss://example.com/', 'https+unix://example.com/', 'unix:/var/run/docker.sock'],
  ...['https://user@example.com/', 'https://user:password@example.com/', 'https://:p@example.com/'],
  ...['https://@example.com/', 'https://example.com@127.0.0.1/', 'https://127.0.0.1@example.com/'],
  ...[
    'https://example.com/#fragment',
    'https://example.com/#',
    'https://example.com:0/',
    'https://example.com:65536/',
  ],
  ...[
    'https://example.com:abc/',
    'https://exa mple.com/',
    'https://example.com/a b',
    ' https://example.com/',
  ],
  ...[
    'https://example.com/\n',
    'https://exam\tple.com/',
    'https://127.0.0.1\t/',
    'https://example.com/\0',
    'https://[::1',
  ],
  ...[
    'https://[fe80::1%25eth0]/',
    'https://exam_ple/',
    'https://a..example.com/',
    'https://-.example.com/',
    'https://.com/',
  ],
  ...['https://example.com../', `https://${'a'.repeat(64)}.example.com/`, `https://${'a.'.repeat(127)}com/`],
  ...[
    `https://example.com/${'a'.repeat(2_048)}`,
    'https://256.256.256.256/',
    'https://1.2.3.4.5/',
    'https://0x/',
  ],
];

const ACCEPTED = [
  ['https://example.com/hook', 'https://example.com/hook'],
  ['https://example.com', 'https://example.com/'],
  ['HTTPS://EXAMPLE.com/Hook?a=b', 'https://example.com/Hook?a=b'],
  ['https://example.com:443/', 'https://example.com/'],
  ['https://example.com:8443/x', 'https://example.com:8443/x'],
  ['https://hooks.example.com./x', 'https://hooks.example.com/x'],
  ['https://bücher.example/x', 'https://xn--bcher-kva.example/x'],
  ['https://receiver.invalid/x', 'https://receiver.invalid/x'],
  ['https://1.1.1.1/x', 'https://1.1.1.1/x'],
  ['https://172.32.0.1/', 'https://172.32.0.1/'],
  ['https://100.128.0.1/', 'https://100.128.0.1/'],
  ['https://[2606:4700:4700::1111]/x', 'https://[2606:4700:4700::1111]/x'],
  ['https://my_host.example.com/', 'https://my_host.example.com/'],
  ['https://localhost.example.com/', 'https://localhost.example.com/'],
  ['https://internal.example.com/', 'https://internal.example.com/'],
] as const;

describe('an endpoint’s URL', () => {
  test.each(REFUSED_HOSTS)('https://%s/ is refused', (host) => {
    expect(judgeUrl(`https://${host}/hook`, false).ok).toBe(false);
    expect(judgeUrl(`https://${host}:8443/hook`, false).ok).toBe(false);
  });
  test.each(REFUSED_URLS)('%j is refused', (url) => {
    expect(judgeUrl(url, false).ok).toBe(false);
  });
  test.each(ACCEPTED)('%s is kept as %s', (url, kept) => {
    expect(judgeUrl(url, false)).toEqual({ ok: true, url: kept });
  });
});

describe('where private networks are allowed', () => {
  test.each([
    'http://127.0.0.1:9/x',
    'http://localhost:9/',
    'https://[::1]/',
    'http://10.1.2.3/',
    'http://receiver:80/',
  ])('%s passes', (url) => {
    expect(judgeUrl(url, true).ok).toBe(true);
  });
  test.each([
    'http://169.254.169.254/',
    'http://[fd00:ec2::254]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://224.0.0.1/',
    'http://0.0.0.0/',
    'ftp://127.0.0.1/',
  ])('%s does not', (url) => {
    expect(judgeUrl(url, true).ok).toBe(false);
  });
});

test('what cannot be read as an address is forbidden, and only public ones are public', () => {
  expect(['', 'example.com', '1.2.3', '::g', '1.2.3.4/8'].map(reachOf)).toEqual(Array(5).fill('forbidden'));
  expect(['8.8.8.8', '2606:4700::1', '2a00:1450::8a'].map(reachOf)).toEqual(['public', 'public', 'public']);
  expect(['127.0.0.1', '::1', 'fd12::1', '10.0.0.1', '100.64.1.1'].map(reachOf)).toEqual(
    Array(5).fill('private'),
  );
  expect([mayConnect('10.0.0.1', false), mayConnect('10.0.0.1', true)]).toEqual([false, true]);
});

test('two spellings of one address are the same, another address is not', () => {
  expect(sameAddress('2606:4700:0:0::1', '2606:4700::1')).toBe(true);
  expect(sameAddress('8.8.8.8', '::ffff:8.8.8.8')).toBe(false);
  expect(sameAddress('', '')).toBe(false);
  expect([literalAddress('[::1]'), literalAddress('1.2.3.4'), literalAddress('example.com')]).toEqual([
    '::1',
    '1.2.3.4',
    null,
  ]);
});
