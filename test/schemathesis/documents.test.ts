/**
 * Schemathesis sends random requests to each operation in a document, and checks every answer against the document. The
 * server runs from its sources, so it checks its answers and events as well (app/answer-checks.ts): a wrong answer is a
 * 500. SIGTERM must end its process afterwards.
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
import { freshDataDir } from '../installation.ts'
import { freePort } from '../process/machine.ts'
import { entry, type Running, startParley } from '../process/parley.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import { storePeople } from './stored-people.ts'
import { type StoredThings, storeThings } from './stored-things.ts'

/**
 * `left` names the operations that are not tested; `unserved` names the operations that never accept a random request.
 */
type Document = { name: string; contract: string; left: readonly string[]; unserved: readonly string[] }
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
const streams = ['streamWebhookEvents', 'streamSession', 'streamCalls']
/**
 * These operations need audio, a signature, the key of a first local run, an enabled feature, a promised callback, a
 * message of the carrier, or values that agree with each other. test/examples sends good requests to them.
 */
const unserved = {
  compat: ['createCompatTranscription', 'transcribe'],
  platform: [
    ...['webJoinCall', 'transferCallBlind', 'transferCallWarm', 'completeTransfer', 'cancelTransfer'],
    ...['getCallback', 'cancelCallback', 'dispatchCallback', 'importPhoneNumber', 'getRequestRoute'],
    ...['saveBusinessVerificationDraft', 'submitBusinessVerification', 'unassignSmsNumber'],
    ...['sendAgentMessage', 'sendNumberMessage', 'callFromRmsgNumber', 'listConversationMessages'],
    ...['putRmsgSubscription', 'deleteRmsgSubscription'],
  ],
  internal: [
    ...['receiveCarrierWebhook', 'receiveMessageWebhook', 'getLinkedRecording'],
    ...['createTryToken', 'getTryRoute', 'listTryAgents', 'createTrySession', 'listTryTurns'],
    // The server has its first person already, and no OIDC provider.
    ...['setUpConsole', 'startOidc', 'finishOidc'],
    // These operations need a mailed token or a second organization's id.
    ...['resetPassword', 'readInvitation', 'acceptInvitation', 'chooseOrganization'],
  ],
}
const documents: readonly Document[] = [
  { name: 'router', contract: routerContract, left: [], unserved: [] },
  { name: 'compat', contract: compatContract, left: [], unserved: unserved.compat },
  { name: 'platform', contract: platformContract, left: streams, unserved: unserved.platform },
  { name: 'internal', contract: internalContract, left: [], unserved: unserved.internal },
]
/** On two busy cores, 300 examples of the platform API took more than an hour. */
const limitMs = 2 * 3_600_000
const main = path.resolve(import.meta.dirname, '../../main.ts')
/** The embedded engines may take this long on a busy machine. */
const answerMs = 120_000
/** Calls may go on for this time after SIGTERM (drain.graceMs and drain.sessionsMs), so the process ends soon after. */
const drainMs = 30_000
const hangMs = drainMs + 10_000

t.setTimeout(documents.length * limitMs)
/** If the packages could not be installed, `missing` is the reason to skip the test. */
const { python, missing } = await pythonEnvironment('schemathesis.txt')

for (const document of documents)
  t.test(
    `responses to random requests conform to the contract of the ${document.name} API`,
    missing === null ? {} : { skip: missing },
    async (t) => {
      // The pages under /docs exist only in the built program, so the server does not have them here.
      const { server, things } = await startProduct(t, document.name === 'internal' ? entry : main)
      const report = await judgedBy(t, document, server, things)
      t.same(report.failures, [])
      t.same(report.errors, [])
      t.equal(report.operations.tested, operationsIn(document).length, 'each operation was tested')
      // With fewer examples some operations get no valid request, so the list of served operations is checked only for
      // larger runs.
      if (Number(examples) >= 100) t.same(unservedIn(document, report.statuses), [], 'each operation was served')
      t.equal(
        await Promise.race([server.stop(), setTimeout(hangMs, 'it still runs', { ref: false })]),
        0,
        'SIGTERM ends the process',
      )
      t.same(faultsIn(server.output()), [], 'the log has no internal error')
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

/** Returns the operations that have never answered with 2xx or 3xx, without the expected ones. */
function unservedIn(document: Document, statuses: Statuses): string[] {
  const isServed = (label: string) => Object.keys(statuses[label] ?? {}).some((status) => /^[23]/.test(status))
  return operationsIn(document)
    .filter(({ id, label }) => !isServed(label) && !document.unserved.includes(id))
    .map(({ id }) => id)
}

/** Returns the log lines with the level `error`. */
function faultsIn(output: string): string[] {
  return output.split('\n').filter((line) => line.includes('"level":50'))
}

async function startProduct(t: Test, program: string): Promise<{ server: Running; things: StoredThings }> {
  const stub = await startStubOpenAi()
  t.teardown(() => stub.close())
  const models = { llm: ['stub-llm'], stt: ['stub-stt'], tts: ['stub-tts'] }
  const provider = { id: 'stub', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'none', models }
  const settings = {
    PARLEY_PROVIDERS: JSON.stringify([provider]),
    // The stub is the receiver of webhook events as well.
    PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
    // Without a SIP port no connection can be checked.
    PARLEY_SIP_HOST: '127.0.0.1',
    PARLEY_SIP_PORT: String(await freePort()),
    PARLEY_DRAIN_GRACE_MS: String(drainMs),
    PARLEY_DRAIN_SESSIONS_MS: String(drainMs),
  }
  const server = await startParley(settings, freshDataDir(), ['--import=tsx', program, 'up'], process.execPath)
  t.teardown(() => server.remove())
  const { ids, kept } = await storeThings(server, stub.url)
  const people = await storePeople(server)
  return {
    server,
    things: { ids: { ...ids, ...people.ids }, kept: [...kept, ...people.kept], cookies: people.cookies },
  }
}

async function judgedBy(t: Test, { contract, left }: Document, server: Running, things: StoredThings): Promise<Report> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-schemathesis-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const fileOf = (name: string) => path.join(folder, `${name}.json`)
  const [document, stored] = [fileOf('document'), fileOf('stored')]
  const [file, statuses] = [fileOf('report'), fileOf('statuses')]
  writeFileSync(document, contract)
  writeFileSync(stored, JSON.stringify(things))
  const hooks = path.join(import.meta.dirname, 'judge.py')
  const env = { SCHEMATHESIS_HOOKS: hooks, PARLEY_TEST_STATUSES: statuses, PARLEY_TEST_STORED: stored }
  const output = await schemathesis(folder, env, [
    ...['run', document, '--origin', server.url],
    ...['--header', `Authorization: Bearer ${server.key}`, '--checks', checks],
    ...left.flatMap((id) => ['--exclude-operation-id', id]),
    ...['--max-examples', examples, '--seed', seed, '--request-timeout', String(answerMs / 1000)],
    ...['--continue-on-failure', '--no-color'],
    ...['--report', 'json', '--report-json-path', file],
  ])
  const report = {
    ...(JSON.parse(readFileSync(file, 'utf8')) as Omit<Report, 'statuses'>),
    statuses: JSON.parse(readFileSync(statuses, 'utf8')) as Statuses,
  }
  if (report.failures.length > 0) t.comment(withoutProgress(output))
  return report
}

/** Drops the progress lines. If a comment has a carriage return, tap drops all later assertions. */
function withoutProgress(output: string): string {
  return output.slice(Math.max(0, output.indexOf('= FAILURES ='))).replaceAll('\r', '')
}

/** Runs Schemathesis, which exits with 1 if it has found a fault. Rejects if it has not ended in time. */
async function schemathesis(folder: string, env: Record<string, string>, args: string[]): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...env }, timeout: limitMs, maxBuffer: 64 * 2 ** 20 }
  return new Promise((resolve, reject) => {
    execFile(python, ['-m', 'schemathesis.cli', ...args], options, (error, stdout) => {
      if (error?.killed === true)
        reject(new Error(`Schemathesis did not end in time. Its end:\n${stdout.slice(-2000)}`))
      else resolve(stdout)
    })
  })
}
