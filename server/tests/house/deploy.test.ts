import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ATTEMPT_STATUSES } from '@purser/contract/values/webhooks';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/service/config/config.ts';
import { MAX_CONNECTIONS } from '../../src/service/installation/runtime.ts';
import { makeMetrics } from '../../src/service/observability/metrics.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const read = (name: string) => readFileSync(join(DEPLOY, name), 'utf8');
/** Says what is left out where the program is missing. */
function has(program: string, left_out: string): boolean {
  const is_installed = spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  if (!is_installed) console.warn(`${program} is not installed: ${left_out} not tested.`);
  return is_installed;
}
/** True if a setting is one of the service's. */
const isSetting = (name: string) => Object.hasOwn(SETTINGS, name);

/** Names that `/metrics` exports, with those that a histogram is made of. */
async function exported(): Promise<Set<string>> {
  const names = new Set<string>();
  for (const [, name, type] of (await makeMetrics().text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      names.add(`${name}${suffix}`);
  }
  return names;
}

const metricsIn = (text: string) =>
  [...text.matchAll(/\b(?:purser|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name);

describe('what is watched', () => {
  const rules: { alert: string; expr: string }[] = parse(read('prometheus/purser.rules.yml')).groups[0].rules;
  const dashboard = JSON.parse(read('grafana/purser.json')) as { panels: { targets: { expr: string }[] }[] };
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
  test('is told by /metrics, and every metric of the service is watched', async () => {
    const named = new Set(expressions.flatMap(metricsIn));
    const told = await exported();
    expect([...named].filter((name) => !told.has(name))).toEqual([]);
    const base = (name: string) => name.replace(/_(bucket|sum|count)$/, '');
    const watched = new Set([...named].map(base));
    const unwatched = [...told].map(base).filter((name) => name.startsWith('purser_') && !watched.has(name));
    expect([...new Set(unwatched)].sort()).toEqual([
      'purser_purpose_model_tokens_total',
      'purser_purpose_second_opinions_total',
    ]);
  });
  test('is asked for by values that exist', () => {
    const statuses = expressions.flatMap((expr) =>
      [...expr.matchAll(/status!?="([A-Z]+)"/g)].map(([, value]) => value),
    );
    expect(statuses.length).toBeGreaterThan(0);
    for (const status of statuses) expect(ATTEMPT_STATUSES).toContain(status);
  });
  test('has a row in the guide and a test for each alert', () => {
    const alerts = rules.map(({ alert }) => alert);
    const guide = readFileSync(join(DEPLOY, '../docs/guides/operating.md'), 'utf8');
    expect([...guide.matchAll(/^\| `(Purser\w+)` \| .+ \| .+ \|$/gm)].map(([, name]) => name)).toEqual(
      alerts,
    );
    const tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] = parse(
      read('prometheus/purser.rules.test.yml'),
    ).tests;
    const tested = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    for (const fires of [true, false]) {
      const named = tested.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires);
      expect(named.map(({ alertname }) => alertname)).toEqual(alerts);
    }
  });
  // Debian has promtool in its package prometheus.
  test.skipIf(!has('promtool', 'the rules of alerts are'))(
    'is written as Prometheus reads it, and its alerts fire',
    () => {
      execFileSync('promtool', ['check', 'rules', join(DEPLOY, 'prometheus/purser.rules.yml')], {
        stdio: 'pipe',
      });
      execFileSync('promtool', ['test', 'rules', join(DEPLOY, 'prometheus/purser.rules.test.yml')], {
        stdio: 'pipe',
      });
    },
  );
});

/** Renders what the templates of the chart use of Helm's language; throws on anything else. */
function renderTemplate(
  template: string,
  values: Record<string, unknown>,
  chart: Record<string, unknown>,
): string {
  const scope: Record<string, unknown> = {
    Values: values,
    Chart: { Name: chart.name },
    Release: { Name: 'test' },
  };
  return template.replace(/\{\{-?\s*(.*?)\s*-?\}\}/g, (_all, action: string, offset: number) => {
    const found = /^(toYaml )?\.([A-Za-z.]+)(?: \| (quote|nindent (\d+)))?$/.exec(action);
    if (found === null) throw new Error(`unknown to the test: {{ ${action} }}`);
    const [, asYaml, path, pipe, indent] = found;
    const value = (path as string).split('.').reduce<unknown>((at, name) => (at as never)?.[name], scope);
    if (value === undefined) throw new Error(`the chart has no value .${path}`);
    if (asYaml === undefined) return pipe === 'quote' ? JSON.stringify(String(value)) : String(value);
    // Flow style on one line of its own is YAML at any indentation.
    const lines = Object.entries(value as object).map(([key, each]) => `${key}: ${JSON.stringify(each)}`);
    if (!template.slice(0, offset).endsWith(' ')) throw new Error('toYaml begins a line');
    return lines.map((line) => `\n${' '.repeat(Number(indent))}${line}`).join('');
  });
}

describe('the Helm chart', () => {
  const chart = parse(read('helm/purser/Chart.yaml'));
  const values = parse(read('helm/purser/values.yaml'));
  const rendered = readdirSync(join(DEPLOY, 'helm/purser/templates')).map((name) =>
    parse(renderTemplate(read(`helm/purser/templates/${name}`), values, chart)),
  );
  const ofKind = (kind: string) => rendered.find((each) => each.kind === kind);
  test('renders to objects that belong together', () => {
    expect(rendered.map(({ kind }) => kind).sort()).toEqual([
      'ConfigMap',
      'PodDisruptionBudget',
      'Service',
      'StatefulSet',
    ]);
    const { spec } = ofKind('StatefulSet');
    const { labels } = spec.template.metadata;
    expect(labels).toMatchObject(spec.selector.matchLabels);
    expect(labels).toMatchObject(ofKind('Service').spec.selector);
    expect(labels).toMatchObject(ofKind('PodDisruptionBudget').spec.selector.matchLabels);
    const [container] = spec.template.spec.containers;
    expect(container.envFrom[0].configMapRef.name).toBe(ofKind('ConfigMap').metadata.name);
    expect(container.resources).toEqual(values.resources);
    expect(container.ports.map(({ name }: { name: string }) => name)).toContain(
      ofKind('Service').spec.ports[0].targetPort,
    );
    const mounted = container.volumeMounts.map(({ name }: { name: string }) => name);
    expect(
      spec.volumeClaimTemplates.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ).toEqual(mounted);
  });
  test('sets settings that exist, as text, and no secret', () => {
    const { data } = ofKind('ConfigMap');
    expect(Object.keys(data).filter((name) => !isSetting(name))).toEqual([]);
    expect(Object.values(data).filter((value) => typeof value !== 'string')).toEqual([]);
    expect(Object.keys(data)).not.toContain('SECRET_KEY');
    const { env } = ofKind('StatefulSet').spec.template.spec.containers[0];
    expect(env.map(({ name }: { name: string }) => name)).toEqual(['DATABASE_URL', 'SECRET_KEY', 'SMTP_URL']);
  });
  test('has the memory and names the connections that its processes need', () => {
    const processes = Number(values.settings.SERVE_PROCESSES);
    const limit_mb = Number(/^(\d+)Gi$/.exec(values.resources.limits.memory)?.[1]) * 1024;
    expect(processes * 256).toBeLessThanOrEqual(limit_mb);
    expect(read('helm/purser/values.yaml')).toContain(`up to ${MAX_CONNECTIONS} connections`);
    // The cluster beside it serves as many nodes as the chart has replicas.
    const { parameters } = parse(read('patroni/patroni.yml')).bootstrap.dcs.postgresql;
    expect(Number(parameters.max_connections)).toBeGreaterThanOrEqual(
      values.replicas * processes * MAX_CONNECTIONS + 44,
    );
  });
  test.skipIf(!has('helm', 'the chart is'))('lints', () => {
    execFileSync('helm', ['lint', '--strict', join(DEPLOY, 'helm/purser')], { stdio: 'pipe' });
  });
});

describe('the other files', () => {
  test('compose sets settings that exist, and starts what HAProxy names', () => {
    const { services } = parse(read('patroni/compose.yaml'), { merge: true });
    expect(Object.keys(services.purser1.environment).filter((name) => !isSetting(name))).toEqual([]);
    const servers = [...read('patroni/haproxy.cfg').matchAll(/^ {2}server (\S+) (\S+):/gm)];
    expect(servers.map(([, name]) => name)).toEqual(['member1', 'member2', 'member3', 'purser1', 'purser2']);
    for (const [, name, host] of servers) {
      expect(host).toBe(name);
      expect(services[name as string].build).toBeDefined();
    }
    const { dcs } = parse(read('patroni/patroni.yml')).bootstrap;
    expect([dcs.synchronous_mode, dcs.synchronous_mode_strict]).toEqual([true, true]);
    // Patroni refuses any other.
    expect(dcs.loop_wait + 2 * dcs.retry_timeout).toBeLessThanOrEqual(dcs.ttl);
  });
  test.skipIf(!has('systemd-analyze', 'the systemd unit is'))(
    'systemd takes the unit, and finds it locked down',
    () => {
      const unit = join(DEPLOY, 'systemd/purser.service');
      const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', unit], {
        encoding: 'utf8',
      });
      expect(Number(/exposure level for purser\.service: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThan(2);
    },
  );
});
