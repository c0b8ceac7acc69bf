/** The commands for agents and calls, with a call spoken on a test clock. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { recognised } from '../audio/build.ts'
import { TestClock } from '../clock.ts'
import { type Following, runCommand, startCommand } from '../command.ts'
import { freshDataDir } from '../installation.ts'
import { openWordEngines } from '../phone/engines.ts'
import { passing } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import { wholeProcess } from '../time/quiet.ts'
import { refused } from './refused.ts'
import { speakTo, startSession } from './spoken-call.ts'

const clock = new TestClock({ startMs: Date.now(), quiet: wholeProcess })
// The teardown below stops the server, because the stop needs a moving clock.
const server = await ownServer({ teardown() {} }, {}, { clock, engines: openWordEngines })
const target = { url: server.url, key: server.key, clock }
const files = freshDataDir()
mkdirSync(files, { recursive: true })
t.teardown(async () => {
  rmSync(files, { recursive: true, force: true })
  await clock.during(server.stop())
})

const env = { PARLEY_API_KEY: target.key }
const command = (...args: string[]) => passing(target, runCommand(server, args, env))
const finished = ({ ended }: Following) => passing(target, ended)
const nobody = '0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b'

async function outputOf(t: Test, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await command(...args)
  t.equal(code, 0, `${args.slice(0, 2).join(' ')}: ${stderr}`)
  return stdout.trimEnd()
}

const json = async (t: Test, ...args: string[]) => JSON.parse(await outputOf(t, ...args, '--json')) as never

type Turn = { index: number; source: string; text: string }
type Span = { kind: string; critical_ms: number; attributes: { silence_ms?: number }; children: Span[] }
type Call = {
  id: string
  status: string
  end_reason: string
  transcript: { entries: Turn[] }
  span_tree: { spans: Span[] }
  report: { outcome: string } | null
}

/** All tests below use one call. */
const organization = /org_\w+/.exec((await command('org', 'list')).stdout)?.[0] ?? ''
await command('org', 'set', organization, 'recording=on')
const prompt = 'Answer: the office opens at nine.'
const made = await command(
  'agents',
  'create',
  '--name',
  'Front desk',
  '--prompt',
  prompt,
  '--language',
  'en',
  '--first-message',
  'Hello.',
)
const agent = made.stdout.trim()
const canary = 'c4n4ry'.repeat(4)
const metadata = { cart: '4711', api_key: canary, note: `see sk_live_${canary}` }
const session = await startSession(target, { agentId: agent, metadata })
/** Runs the command as long as the call lasts. */
const follow = (...args: string[]) => startCommand(server, ['calls', 'tail', session.sessionId, ...args], env)
const tail = follow()
const tailJson = follow('--json')
const said = [spoken['cannot-complete-as-dialed'], spoken['please-try-call-later']]
await speakTo(target, session, said)
let call = {} as Call
await clock.until('the report is there', async () => {
  call = JSON.parse((await command('calls', 'show', session.sessionId, '--json')).stdout) as Call
  return call.report !== null
})

if (call.status !== 'completed') throw new Error(`the call is ${call.status}, ${call.end_reason}:\n${server.output()}`)

t.test('the `agents` commands create an agent from a file or from options, list, show and delete it', async (t) => {
  t.match(agent, /^agent_\w{22}$/)
  t.match(await outputOf(t, 'agents', 'list'), new RegExp(`^ {2}${agent} {2}Front desk {2}en {2}\\d{4}-`, 'm'))
  t.match(await outputOf(t, 'agents', 'show', agent), /^ {2}systemPrompt +Answer: the office opens at nine\.$/m)
  const file = path.join(files, 'agent.json')
  writeFileSync(file, JSON.stringify({ name: 'Filed', intent: { language: 'de', region: 'eu' }, maxToolHops: 2 }))
  const options = ['--file', file, '--name', 'Filed 2', '--prompt', 'Be brief.', '--language', 'en-US']
  const filed: { id: string } = await json(t, 'agents', 'create', ...options)
  t.match(filed, { name: 'Filed 2', intent: { language: 'en-US', region: 'eu' }, maxToolHops: 2 })
  t.equal(await outputOf(t, 'agents', 'delete', filed.id), `${filed.id} is deleted`)
  refused(t, await command('agents', 'show', filed.id), /^parley: NOT_FOUND: .*\nrequest req_/)
  refused(t, await command('agents', 'create', '--name', 'x'), /VALIDATION_ERROR: .*systemPrompt/)
  writeFileSync(file, '[]')
  refused(t, await command('agents', 'create', '--file', file), /agent\.json holds no JSON object/)
  refused(t, await command('agents', 'create', '--file', `${file}.no`), /cannot be read \(ENOENT\)/)
})

t.test('`calls list` filters calls and prints one page at a time', async (t) => {
  t.match(
    await outputOf(t, 'calls', 'list'),
    new RegExp(
      `^ {2}${session.sessionId} .* completed +user_hangup +browser +– +en .* \\d+ ms +\\w+ +Front desk$`,
      'm',
    ),
    'the agent has its name',
  )
  const ids = async (...args: string[]) =>
    ((await json(t, 'calls', 'list', ...args)) as { data: { id: string }[] }).data.map(({ id }) => id)
  const second = await startSession(target, { intent: { language: 'en' } })
  t.same(await ids(), [second.sessionId, session.sessionId])
  t.same(await ids('--status', 'queued'), [second.sessionId])
  t.same(await ids('--agent', agent, '--kind', 'browser'), [session.sessionId])
  t.same(await ids('--to', '2020-01-01'), [])
  const spoken = call.transcript.entries.find(({ source }) => source === 'agent')?.text.split(' ')[0] ?? ''
  t.same(await ids('--search', spoken), [session.sessionId])
  t.same(await ids('--search', `${spoken} xylophone`), [])
  t.same(await ids('--number', '5550199'), [])
  t.same((await ids('--from', '2020-01-01T00:00:00Z')).length, 2)
  const first = await outputOf(t, 'calls', 'list', '--limit', '1')
  const cursor = /^more: --cursor (\S+)$/m.exec(first)?.[1] ?? ''
  t.match(first, second.sessionId)
  const last = await outputOf(t, 'calls', 'list', '--limit', '1', '--cursor', cursor)
  t.match(last, session.sessionId)
  t.notMatch(last, /more:/)
  t.equal(await outputOf(t, 'calls', 'list', '--status', 'busy'), 'no calls')
  refused(t, await command('calls', 'list', '--from', 'yesterday'), /--from: yesterday is no time/)
  refused(t, await command('calls', 'list', '--status', 'gone'), /VALIDATION_ERROR: status must be one of /)
  refused(t, await command('calls', 'list', '--limit', '201'), /--limit takes a whole number from 1 to 200, not 201/)
})

t.test('`calls show` prints the transcript, the latencies and the silences of a call', async (t) => {
  const text = await outputOf(t, 'calls', 'show', session.sessionId)
  t.match(text, new RegExp(`^${session.sessionId} {2}completed by user_hangup, \\d+ s$`, 'm'))
  t.match(text, /^ {2}recording {2}ready, \d+\.\d s$/m)
  t.match(text, /^ {2}outcome +\w+$/m)
  const shown = [...text.matchAll(/^ +\d+ {2}\d:\d\d\.\d {2}user {4}(.+)$/gm)].map(([, words = '']) => words)
  for (const [i, words] of said.entries()) t.ok(wordErrors(words, shown[i] ?? '').errors <= 1, `turn ${i}`)
  const { entries } = call.transcript
  for (const { source, text: words } of entries) t.ok(source !== 'agent' || text.includes(`agent   ${words}`), words)
  t.match(text, /^ {2}turn {2}end of turn {2}llm +tts +silence +state +by$/m)
  t.match(text, /^ {2}\d +\d+ ms +\d+ ms +\d+ ms +\d+ ms +complete +local:scripted, local:hibari$/m)
  const turns = call.span_tree.spans.flatMap(({ children }) => children).filter(({ kind }) => kind === 'turn')
  t.equal(turns.length, entries.filter(({ source }) => source === 'agent').length)
  for (const turn of turns) {
    t.match(text, `  ${Math.round(turn.attributes.silence_ms ?? 0)} ms of silence`)
    for (const part of turn.children)
      t.match(text, new RegExp(`^ {4}${part.kind} .* ${part.critical_ms.toFixed(0)} ms`, 'm'))
  }
  t.match(text, /^ {4}endpointing {3}█.* +\d+ ms$/m)
  refused(t, await command('calls', 'show', nobody), /^parley: NOT_FOUND: /)
  refused(t, await command('calls', 'show', '../agents'), /^parley: (NOT_FOUND|VALIDATION_ERROR): /)
})

t.test('`calls tail` follows a call until the call is over', async (t) => {
  const { code, stdout } = await finished(tail)
  t.equal(code, 0)
  const lines = stdout.trimEnd().split('\n')
  t.match(lines[0], /^status {2}(queued|in_progress)$/)
  t.equal(lines.at(-1), 'the session is over')
  for (const status of ['in_progress', 'completed'])
    t.equal(lines.filter((line) => line === `status  ${status}`).length, 1, status)
  const { entries } = call.transcript
  t.equal(lines.filter((line) => /^(user|agent) /.test(line)).length, entries.length)
  for (const { source, text } of entries) t.match(stdout, `${source.padEnd(6)}  ${text}`)
  const events = (await finished(tailJson)).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; data: Turn })
  t.same(
    events.filter(({ event }) => event === 'transcript').map(({ data }) => data.text),
    entries.map(({ text }) => text),
  )
  t.match(events.at(-1), { event: 'end', data: { reason: 'session_ended' } })
  refused(t, await command('calls', 'tail', nobody), /^parley: NOT_FOUND: /)
})

t.test('`calls tail` continues from its cursor if the event stream is cut', async (t) => {
  const turnEvent = 'event: transcript'
  const asked: unknown[] = []
  const proxy = createServer((incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', server.url)
    // The client itself continues after a cut. It sends the last event's id instead of a cursor.
    asked.push(searchParams.get('cursor') ?? incoming.headers['last-event-id'])
    const isFirst = asked.length === 1
    const ahead = request(
      `${server.url}${pathname}?${searchParams.toString()}`,
      { headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        let sent = ''
        answer.on('data', (chunk: Buffer) => {
          if (!outgoing.writable) return
          sent += chunk.toString()
          // The proxy cuts the connection in the middle of the second turn.
          const first = sent.indexOf(turnEvent)
          const cut = isFirst && first >= 0 ? sent.indexOf(turnEvent, first + 1) : -1
          if (cut < 0) return void outgoing.write(chunk)
          const kept = Buffer.from(sent).length - chunk.length
          outgoing.write(Buffer.from(sent.slice(0, cut)).subarray(kept), () => outgoing.destroy())
        })
        answer.on('end', () => outgoing.end())
      },
    )
    ahead.end()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const whole = (await finished(tail)).stdout.split('\n')
  const cut = runCommand({ ...server, url }, ['calls', 'tail', session.sessionId], env)
  const again = await passing(target, cut)
  t.equal(again.code, 0, again.stderr)
  t.equal(asked.length, 2)
  t.equal(asked[0], '-1:0')
  t.match(asked[1], /^0:\d+$/, 'the first turn has come')
  const turns = (lines: string[]) => lines.filter((line) => /^(user|agent) /.test(line))
  // The call report is written after the call's end, so the later tail shows more analysis events. They are left out
  // here.
  const kinds = (lines: string[]) => lines.filter((line) => /^event(?!.* analysis\.)/.test(line)).sort()
  t.same(turns(again.stdout.split('\n')), turns(whole), 'each turn once')
  t.same(kinds(again.stdout.split('\n')), kinds(whole), 'each event once')
})

const pin = { stt: 'local:moonshine-tiny-en', llm: 'local:scripted', tts: 'local:flite' }
type Replayed = {
  stage: string
  turns: { then: string; now: string; error: null; latencyMs: number; words: { errors: number; count: number } }[]
}

t.test('`bundle` saves a call as one file, and `replay` plays the same audio again', async (t) => {
  const file = path.join(files, 'call.tar')
  t.match(
    await outputOf(t, 'bundle', session.sessionId, '-o', file),
    /call\.tar: bundle\.json, call\.json, .*recording\.wav$/,
  )
  t.equal(statSync(file).mode & 0o777, 0o600)
  const folder = path.join(files, 'unpacked')
  mkdirSync(folder)
  t.equal(spawnSync('tar', ['-xf', file, '-C', folder]).status, 0, 'tar reads it')
  const read = (name: string) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as object
  t.same(read('transcript.json'), call.transcript)
  t.same(read('spans.json'), call.span_tree)
  t.match(read('config.json'), { systemPrompt: prompt })
  t.match(read('call.json'), {
    id: session.sessionId,
    metadata: { cart: '4711', api_key: '[redacted]', note: 'see [redacted]' },
  })
  t.match(read('events.json'), { events: [{ event_type: 'call.in_progress' }] })
  t.match(read('report.json'), { session_id: session.sessionId })
  const { format } = recognised([readFileSync(path.join(folder, 'recording.wav'))], null)
  t.match(format, { container: 'wav', sampleRateHz: 16_000, channels: 2 })
  const bytes = readFileSync(file).toString('latin1')
  for (const secret of [canary, session.transportToken, target.key]) t.notOk(bytes.includes(secret))

  const withAll = ['--with', `stt=${pin.stt},llm=${pin.llm}`, '--with', `tts=${pin.tts}`]
  const { replays } = (await json(t, 'replay', file, ...withAll)) as { replays: Replayed[] }
  t.same(
    replays.map(({ stage, turns }) => [stage, turns.length]),
    [
      ['stt', 2],
      ['llm', 2],
      ['tts', 3],
    ],
  )
  for (const { turns } of replays) for (const { error, latencyMs } of turns) t.ok(error === null && latencyMs > 0)
  // The replay sends the call's audio to the same model, but cuts it at other positions, which may change a word.
  const [transcribed] = replays
  const expected = call.transcript.entries.filter(({ source }) => source === 'user')
  for (const [i, turn] of (transcribed?.turns ?? []).entries()) {
    t.equal(turn.then, expected[i]?.text)
    t.ok(wordErrors(said[i] ?? '', turn.now).errors <= 1, turn.now)
    t.equal(turn.words.errors, wordErrors(turn.then, turn.now).errors)
  }
  t.match(
    replays[1]?.turns[0]?.now,
    call.transcript.entries.find(({ source, index }) => source === 'agent' && index > 1)?.text,
  )
  const { index } = expected[1] ?? {}
  const one = (await json(t, 'replay', file, '--turn', String(index), '--with', `stt=${pin.stt}`)) as {
    replays: Replayed[]
  }
  t.match(one.replays, [{ turns: [{ index }] }], '--turn replays only this turn')
  t.equal(one.replays[0]?.turns.length, 1)
  const text = await outputOf(t, 'replay', file, '--with', `stt=${pin.stt}`)
  t.match(text, /^ {2}turn \d {2}\d:\d\d\.\d {3}\d of \d+ words differ, whole transcript after \d+ ms$/m)
  t.match(text, /^ {2}in all: \d of \d+ words differ \(\d+\.\d %\), whole transcript after \d+ ms at the median$/m)
})

t.test('`bundle` and `replay` refuse calls that cannot be saved or played', async (t) => {
  const file = path.join(files, 'refused.tar')
  const waiting = await startSession(target, { intent: { language: 'en' } })
  refused(t, await command('bundle', waiting.sessionId, '-o', file), /^parley: CALL_NOT_ENDED: /)
  refused(t, await command('bundle', nobody, '-o', file), /^parley: NOT_FOUND: /)
  t.equal(existsSync(file), false)
  const replay = (models: string, of = file) => command('replay', of, '--with', models)
  refused(t, await replay(`stt=${pin.stt}`), /refused\.tar cannot be read \(ENOENT\)/)
  const whole = path.join(files, 'call.tar')
  for (const models of ['local:flite', 'song=a:b', 'stt=', 'stt=a:b,,', 'stt=whisper-1'])
    refused(t, await replay(models, whole), /write a stage and a model/)
  const archive = readFileSync(whole)
  for (const broken of [archive.subarray(0, 2000), Buffer.from('no archive'), Buffer.from(archive).fill(65, 0, 40)]) {
    writeFileSync(file, broken)
    refused(t, await replay(`stt=${pin.stt}`), /this is not a whole tar archive/)
  }
  writeFileSync(file, Buffer.alloc(1024))
  refused(t, await replay(`stt=${pin.stt}`), /is no bundle of a call: it has no sound bundle\.json/)
  const unknown = await replay('stt=nobody:nothing', whole)
  t.equal(unknown.code, 1, 'no turn was transcribed')
  t.match(unknown.stdout, /nobody:nothing failed\n {4}invalid_parameter at \/routing\/\w+: /)
})
