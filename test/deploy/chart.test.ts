/** The Helm chart is rendered by helm and checked against Parley's settings. `make test-all LANE=helm` gets helm. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { serving } from './settings.ts'

const root = path.resolve(import.meta.dirname, '../..')
const chart = path.join(root, 'deploy/helm/parley')
const program = process.env['PARLEY_TEST_HELM'] ?? 'helm'
const skip = spawnSync(program, ['version']).status !== 0 && 'helm is not installed: make test-all LANE=helm'
const given = {
  host: 'voice.example.com',
  existingSecret: 'secrets',
  trustedProxies: '10.0.0.0/8',
  'ingress.tlsSecret': 'certificate',
}

t.test('helm lint reports no fault in the chart', { skip }, (t) => {
  const { status, stdout } = helm('lint', given)
  t.equal(status, 0, stdout)
  t.end()
})

t.test('the chart does not render without the values that the operator must set', { skip }, (t) => {
  for (const name of Object.keys(given) as (keyof typeof given)[]) {
    const rest = Object.fromEntries(Object.entries(given).filter(([other]) => other !== name))
    const { status, stderr } = helm('template', rest)
    t.not(status, 0)
    t.match(stderr, `${name}: `)
  }
  t.end()
})

t.test(
  'a pod starts with settings that Parley accepts, and is killed only after it has drained',
  { skip },
  async (t) => {
    const [{ spec } = none] = rendered(
      { ...given, 'settings.PARLEY_LOG_LEVEL': 'warn', 'settings.PARLEY_PORT': '9090' },
      'StatefulSet',
    )
    const pod = spec.template.spec
    const [container] = pod.containers
    const variables = container.env.map(({ name, value }) => [name, value?.replace('$(POD_NAME)', 'parley-1') ?? ''])
    const secrets = { DATABASE_URL: 'postgres://parley@postgres/parley', PARLEY_MASTER_KEY: 'm'.repeat(44) }
    const env = Object.fromEntries(variables) as Record<string, string>
    const config = await serving({ ...env, ...secrets, PARLEY_HOST: '0.0.0.0', PARLEY_DATA_DIR: '/data' })
    t.equal(config.nodeUrl, 'https://parley-1.voice.example.com')
    t.equal(config.logLevel, 'warn')
    t.match(container.ports, [{ name: 'http', containerPort: config.port }], 'the probes follow the port')
    t.ok(pod.terminationGracePeriodSeconds * 1000 > config.drain.sessionsMs + config.drain.lbDelayMs)
    const { periodSeconds, failureThreshold, httpGet } = container.readinessProbe
    t.equal(httpGet.path, '/readyz')
    t.ok(periodSeconds * failureThreshold * 1000 < config.drain.lbDelayMs, 'a pod that drains is seen in time')
    t.equal(container.securityContext.readOnlyRootFilesystem, true)
    t.match(readFileSync(path.join(root, 'deploy/Dockerfile'), 'utf8'), `USER ${pod.securityContext.runAsUser}:`)
  },
)

t.test('a pod lists a metrics port for each process, and mounts the files of a secret', { skip }, (t) => {
  const values = {
    'settings.PARLEY_PROCESSES': '3',
    'image.pullSecrets[0]': 'registry',
    filesSecret: 'parley-files',
  }
  const [{ spec } = none] = rendered({ ...given, ...values }, 'StatefulSet')
  const pod = spec.template.spec
  t.strictSame(
    pod.containers[0].ports.map(({ name, containerPort }) => `${name} ${containerPort}`),
    ['http 8080', 'metrics 9464', 'metrics-1 9465', 'metrics-2 9466'],
  )
  t.strictSame(pod.imagePullSecrets, [{ name: 'registry' }])
  t.match(pod.containers[0].volumeMounts, [{}, {}, { name: 'files', mountPath: '/etc/parley', readOnly: true }])
  t.match(pod.volumes, [{ name: 'tmp' }, { name: 'files', secret: { secretName: 'parley-files' } }])
  const [{ spec: plain } = none] = rendered(given, 'StatefulSet')
  t.equal(plain.template.spec.containers[0].ports.length, 2)
  t.equal(plain.template.spec.volumes.length, 1)
  t.end()
})

t.test('each pod has a host name and a service for the sockets of its sessions', { skip }, (t) => {
  const values = { ...given, replicas: '3' }
  const services = rendered(values, 'Service').map(({ metadata }) => metadata.name)
  t.strictSame(services, ['parley', 'parley-pods', 'parley-0', 'parley-1', 'parley-2'])
  const [{ spec } = none] = rendered(values, 'Ingress')
  t.strictSame(
    spec.rules.map(({ host, http }) => [host, http.paths[0]?.backend.service.name]),
    [
      ['voice.example.com', 'parley'],
      ...[0, 1, 2].map((ordinal) => [`parley-${ordinal}.voice.example.com`, `parley-${ordinal}`]),
    ],
  )
  t.end()
})

type Probe = { httpGet: { path: string }; periodSeconds: number; failureThreshold: number }
type Container = {
  env: { name: string; value?: string }[]
  securityContext: { readOnlyRootFilesystem: boolean }
  readinessProbe: Probe
  ports: { name: string; containerPort: number }[]
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[]
}
type Pod = {
  containers: [Container]
  terminationGracePeriodSeconds: number
  securityContext: { runAsUser: number }
  imagePullSecrets?: { name: string }[]
  volumes: { name: string; secret?: { secretName: string } }[]
}
type Rule = { host: string; http: { paths: { backend: { service: { name: string } } }[] } }
type Resource = { kind: string; metadata: { name: string }; spec: { template: { spec: Pod }; rules: Rule[] } }
const none = {} as Resource

function rendered(values: Record<string, string>, kind: string): Resource[] {
  const { status, stdout, stderr } = helm('template', values)
  if (status !== 0) throw new Error(stderr)
  const all = parseAllDocuments(stdout).map((document) => document.toJS() as Resource)
  return all.filter((resource) => resource.kind === kind)
}

function helm(command: 'lint' | 'template', values: Record<string, string>) {
  const settings = Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  const args = command === 'lint' ? ['lint', '--strict', chart] : ['template', 'parley', chart]
  return spawnSync(program, [...args, ...settings], { encoding: 'utf8' })
}
