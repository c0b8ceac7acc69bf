/** Tests that `replay` sends the same parts to models as the console's page does. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import t, { type Test } from 'tap'
import { wavHeader } from '../../audio/wav.ts'
import { readWav } from '../../cli/wav.ts'
import { recordingLayout } from '../../domain/records/recording.ts'
import { tarOf } from '../../runtime/values/tar.ts'
import { runCommand } from '../command.ts'
import { startAdministered, stubProviders } from '../platform/setup.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const { parley, admin } = await startAdministered(t, { PARLEY_PROVIDERS: stubProviders(stub) })
const { key } = await admin.organization('that replays from the command line')

const startMs = Date.parse('2026-01-01T10:00:00Z')
const at = (ms: number) => new Date(startMs + ms).toISOString()
const turn = (index: number, source: string, [fromMs, toMs]: [number, number], more: object = {}) => ({
  ...{ index, source, id: `turn-${index}`, text: `Words ${index}.`, started_at: at(fromMs), ended_at: at(toMs) },
  ...{ provider: 'main', model: 'chat', metadata: {}, llm_ttft_ms: 1, tts_ttfb_ms: 1, ...more },
})
const entries = [
  turn(0, 'user', [500, 900], { metadata: { typed: true } }),
  turn(1, 'user', [1000, 2000]),
  turn(2, 'user', [2100, 2200], { metadata: { dtmf: true } }),
  turn(3, 'agent', [3000, 4000]),
]

/** Writes a bundle with a recording of 5 seconds, and returns its path. */
async function bundleOf(t: Test, systemPrompt: string): Promise<string> {
  const samples = Buffer.alloc(5 * 16_000 * 4)
  const contents = {
    'bundle.json': { version: 1 },
    'call.json': { id: 'call', language: 'en', started_at: at(0) },
    'config.json': { systemPrompt },
    'events.json': { events: [{ event_type: 'recording.recording', occurred_at: at(0) }] },
    'transcript.json': { entries },
    'recording.wav': Buffer.concat([wavHeader(recordingLayout, samples.length), samples]),
  }
  const files = Object.entries(contents).map(([name, content]) => {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content))
    return { name, size: bytes.length, read: () => [bytes] }
  })
  const file = path.join(t.testdir(), 'call.tar')
  await writeFile(file, tarOf(files, startMs).bytes)
  return file
}

/** Replays the call with one model, and returns what the model received. */
async function sentBy(t: Test, model: string, systemPrompt = 'Be brief.') {
  const file = await bundleOf(t, systemPrompt)
  const before = stub.requests.length
  const { code, stderr } = await runCommand(parley, ['replay', file, '--with', model], { PARLEY_API_KEY: key })
  t.equal(code, 0, stderr)
  return stub.requests.slice(before)
}

t.test('the audio of a turn ends where keys or typed words of the caller begin', async (t) => {
  const sent = await sentBy(t, 'stt=main:listen')
  const audio = sent.flatMap(({ parts }) => parts).find(({ name }) => name === 'file')
  const { samples, sampleRateHz } = readWav(audio?.body ?? Buffer.alloc(0))
  t.equal(sent.length, 1, 'keys and typed words are not transcribed')
  t.equal((samples.length / 2 / sampleRateHz) * 1000, 2100 - 900)
})

t.test('a model gets the system prompt only if the call had one', async (t) => {
  const rolesOf = async (systemPrompt: string) => {
    const [request] = await sentBy(t, 'llm=main:chat', systemPrompt)
    return (request?.json['messages'] as { role: string }[]).map(({ role }) => role)
  }
  t.same(await rolesOf('Be brief.'), ['system', 'user', 'user', 'user'])
  t.same(await rolesOf(''), ['user', 'user', 'user'])
})
