/**
 * Schemathesis sends random requests to each operation in a document, and judges every answer by the document. The
 * server checks its answers and event data as well (app/answer-checks.ts): a wrong answer is a 500.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { compatContract } from '../../generated/compat/contract.ts'
import { internalContract } from '../../generated/internal/contract.ts'
import { platformContract } from '../../generated/platform/contract.ts'
import { routerContract } from '../../generated/router/contract.ts'
import { pythonEnvironment } from '../clients/python/environment.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { ownServer, type TestServer } from '../server.ts'

/** `left` names the untested operations. */
type Document = { name: string; contract: string; left: readonly string[] }
/** The number of answers per status, by operation such as `GET /v1/agents`. */
type Statuses = Record<string, Record<string, number>>
type Report = {
  operations: { tested: number }
  failures: { title: string; operations: string[] }[]
  errors: { title: string }[]
  statuses: Statuses
}

const examples = process.env['PARLEY_TEST_EXAMPLES'] ?? '300'
const seed = process.env['PARLEY_TEST_SEED'] ?? '1'
const checks = [
  ...['no_fault_of_the_server', 'status_code_conformance', 'content_type_conformance'],
  ...['response_headers_conformance', 'response_schema_conformance', 'unsupported_method'],
].join(',')
/** A request to one of these operations takes as long as its stream, ten minutes, so they are not tested. */
const streams = ['streamWebhookEvents', 'streamSession']
const documents: readonly Document[] = [
  { name: 'router', contract: routerContract, left: [] },
  { name: 'compat', contract: compatContract, left: [] },
  { name: 'platform', contract: platformContract, left: streams },
  { name: 'internal', contract: internalContract, left: [] },
]
const hourMs = 3_600_000
/** A server that has not stopped after this time hangs: open sockets delay the end by 200 ms. */
const hangMs = 60_000

t.setTimeout(documents.length * hourMs)
/** If the packages could not be installed, `missing` is the reason to skip the test. */
const { python, missing } = await pythonEnvironment('schemathesis.txt')

for (const document of documents)
  t.test(
    `answers to random requests conform to the contract of the surface ${document.name}`,
    missing === null ? {} : { skip: missing },
    async (t) => {
      const server = await startProduct(t)
      const report = await judgedBy(t, document, server)
      t.same(report.failures, [])
      t.same(report.errors, [])
      t.equal(report.operations.tested, operationsIn(document).length, 'each operation was tested')
      // With fewer examples some operations get no valid request, so this is checked only for larger runs.
      if (Number(examples) >= 100) t.same(unservedIn(document, report.statuses), [], 'each operation was served')
      const hasEnded = server.stop().then(() => true)
      t.ok(
        await Promise.race([hasEnded, setTimeout(hangMs, false, { ref: false })]),
        'the server stops when it is asked to',
      )
    },
  )

/** Returns the tested operations, with their names in Schemathesis. */
function operationsIn({ contract, left }: Document): { id: string; label: string }[] {
  const { paths } = JSON.parse(contract) as { paths: Record<string, Record<string, { operationId?: string }>> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId: id }]) =>
      id === undefined || left.includes(id) ? [] : [{ id, label: `${method.toUpperCase()} ${path}` }],
    ),
  )
}

/** Returns the operations that have never answered with 2xx. */
function unservedIn(document: Document, statuses: Statuses): string[] {
  const isServed = (label: string) => Object.keys(statuses[label] ?? {}).some((status) => status.startsWith('2'))
  return operationsIn(document)
    .filter(({ label }) => !isServed(label))
    .map(({ id }) => id)
}

async function startProduct(t: Test): Promise<TestServer> {
  const stub = await startStubOpenAi()
  t.teardown(() => stub.close())
  const models = { llm: ['stub-llm'], stt: ['stub-stt'], tts: ['stub-tts'] }
  const provider = { id: 'stub', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'none', models }
  return ownServer(t, { PARLEY_PROVIDERS: JSON.stringify([provider]) })
}

async function judgedBy(t: Test, { contract, left }: Document, server: TestServer): Promise<Report> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-schemathesis-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [document = '', file = '', statuses = ''] = ['document', 'report', 'statuses'].map((name) =>
    path.join(folder, `${name}.json`),
  )
  writeFileSync(document, contract)
  const output = await schemathesis(folder, statuses, [
    ...['run', document, '--origin', server.url],
    ...['--header', `Authorization: Bearer ${server.key}`, '--checks', checks],
    ...left.flatMap((id) => ['--exclude-operation-id', id]),
    ...['--max-examples', examples, '--seed', seed, '--continue-on-failure', '--no-color'],
    ...['--report', 'json', '--report-json-path', file],
  ])
  const report = {
    ...(JSON.parse(readFileSync(file, 'utf8')) as Omit<Report, 'statuses'>),
    statuses: JSON.parse(readFileSync(statuses, 'utf8')) as Statuses,
  }
  if (report.failures.length > 0) t.comment(output)
  return report
}

/** Runs Schemathesis. It exits with 1 if it has found a fault. */
async function schemathesis(folder: string, statuses: string, args: string[]): Promise<string> {
  const hooks = path.join(import.meta.dirname, 'judge.py')
  const env = { ...process.env, SCHEMATHESIS_HOOKS: hooks, PARLEY_TEST_STATUSES: statuses }
  const options = { cwd: folder, env, timeout: hourMs, maxBuffer: 64 * 2 ** 20 }
  return new Promise((resolve) => {
    execFile(python, ['-m', 'schemathesis.cli', ...args], options, (_, stdout) => resolve(stdout))
  })
}
