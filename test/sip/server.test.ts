/**
 * Third-party programs, SIPp and baresip, call agents in a whole server and are called by them. The calls run in real
 * time.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { ChunkedBytes } from '../../audio/chunked-bytes.ts'
import { readWav } from '../../audio/wav.ts'
import { bytes, fmt, riff } from '../audio/build.ts'
import { hasEnded, type PhoneCallRow } from '../phone/call-rows.ts'
import { callWhen, newestInbound } from '../phone/real-time-calls.ts'
import { call } from '../platform/setup.ts'
import { startBuiltTrunkServer } from '../process/built-trunk-server.ts'
import { openDatabase } from '../process/database.ts'
import { freePortPair, until } from '../process/machine.ts'
import { wordsOf } from '../session/recorded-call.ts'
import { readFixture } from '../speech/fixtures.ts'
import { baresip, baresipModules, skipWithoutBaresip, skipWithoutSipp } from './programs.ts'
import { callsCount, runSipp } from './run-sipp.ts'

const skip = skipWithoutBaresip
const person = '+15005550007'
const rateHz = 8000

/** The port for the trunk's other side, the target for outbound calls. The phone accepts TLS at the next port. */
const farPort = await freePortPair()
const server = await startBuiltTrunkServer(farPort)
t.teardown(() => server.close())

/** The audio from the phone: five seconds of silence, a question, and eight seconds of silence before it hangs up. */
const question = new Int16Array(readFixture('please-try-call-later').slice(44).buffer)
const speech = new Int16Array(5 * rateHz + question.length + 8 * rateHz)
speech.set(question, 5 * rateHz)

type Phone = { folder: string; output: () => string; ended: Promise<void> }

/** Starts a phone that accepts each call. */
function startPhone(t: Test, args: readonly string[] = []): Phone {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-baresip-'))
  const wav = riff([
    ['fmt ', bytes(fmt(1, 1, rateHz, 16))],
    ['data', new Uint8Array(speech.buffer)],
  ])
  writeFileSync(path.join(folder, 'says.wav'), wav)
  const modules = ['g711', 'aufile', 'aubridge', 'sndfile'].map((name) => `module ${name}.so`)
  const config = [
    'poll_method epoll',
    `sip_listen 127.0.0.1:${farPort}`,
    'net_interface 127.0.0.1',
    `audio_source aufile,${path.join(folder, 'says.wav')}`,
    'audio_player aubridge,far',
    `ausrc_srate ${rateHz}`,
    `auplay_srate ${rateHz}`,
    `module_path ${baresipModules}`,
    ...modules,
    'module_tmp account.so',
    'module_app menu.so',
    // baresip writes received audio to a file with a name ending in -dec.wav.
    `snd_path ${folder}`,
  ]
  writeFileSync(path.join(folder, 'config'), `${config.join('\n')}\n`)
  writeFileSync(path.join(folder, 'accounts'), `<sip:${person}@127.0.0.1>;regint=0;answermode=auto;audio_codecs=pcmu\n`)
  writeFileSync(path.join(folder, 'contacts'), '')
  const child = spawn(baresip, ['-f', folder, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
  t.teardown(() => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return {
    folder,
    output: () => output,
    ended: (async () => {
      await until('the end of the call at the phone', () => /terminated|session closed/i.test(output))
      child.kill('SIGTERM')
      await ended
    })(),
  }
}

async function wordsAt({ folder }: Phone): Promise<string> {
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('-dec.wav'))
  const body = new Uint8Array(readFileSync(path.join(folder, name)))
  const { dataOffset } = readWav(new ChunkedBytes([body]))
  const samples = new Int16Array(body.slice(dataOffset, body.length - ((body.length - dataOffset) % 2)).buffer)
  return (await wordsOf(server, samples, rateHz)).toLowerCase()
}

const textOf = ({ transcript }: PhoneCallRow, source: string) =>
  transcript.entries
    .filter((entry) => entry.source === source)
    .map(({ text }) => text.toLowerCase())
    .join(' ')

t.test(
  `SIPp calls the number of an agent ${callsCount} times, and every call is answered and has a complete record`,
  { skip: skipWithoutSipp },
  async (t) => {
    const args = ['-sn', 'uac', '-r', '4', '-d', '500', '-s', server.trunkNumber, `127.0.0.1:${server.sipPort}`]
    const { code, output } = await runSipp(t, args).ended
    const sql = openDatabase(server.parley.dataDir)
    t.teardown(() => sql.end())
    const ends = await sql`select status, end_reason, count(*)::int from calls group by 1, 2`
    t.equal(code, 0, `${JSON.stringify(ends)} ${output.slice(-2000)}`)
    const countOf = async () => {
      const [row] = await sql<{ calls: number; legs: number }[]>`
      select (select count(*)::int from calls where status = 'completed') as calls,
        (select count(*)::int from call_legs where ended_at is not null and answered_at is not null) as legs`
      return row
    }
    await until('the end of all calls', async () => (await countOf())?.calls === callsCount)
    t.same(await countOf(), { calls: callsCount, legs: callsCount })
  },
)

t.test("a phone calls an agent, and both recognize each other's words", { skip }, async (t) => {
  const phone = startPhone(t, ['-e', `/dial sip:${server.trunkNumber}@127.0.0.1:${server.sipPort}`])
  await until('the call', () => /Call established/.test(phone.output()))
  const id = await newestInbound(server)
  const row = await callWhen(server, id, hasEnded)
  t.match(row, { status: 'completed', direction: 'inbound', from: person, to: server.trunkNumber })
  t.match(textOf(row, 'user'), /later/, 'the agent understands the phone')
  await phone.ended
  t.match(await wordsAt(phone), /hello.*bicycle/, 'the phone receives the voice of the agent')
})

t.test("an agent calls a phone, and both recognize each other's words", { skip }, async (t) => {
  const phone = startPhone(t)
  await until('the phone', () => /baresip is ready/.test(phone.output()))
  const wanted = { to: person, from: server.trunkNumber, agentId: server.agentId }
  const dialed = await call(server, 'POST', '/v1/sessions/phone', wanted)
  t.equal(dialed.status, 200, dialed.text)
  const { sessionId } = dialed.json<{ sessionId: string }>()
  const row = await callWhen(server, sessionId, hasEnded)
  t.match(row, { status: 'completed', direction: 'outbound' })
  t.match(textOf(row, 'user'), /later/)
  await phone.ended
  t.match(await wordsAt(phone), /hello.*bicycle/)
})
