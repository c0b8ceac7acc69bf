/**
 * Tests the captions in /v1/realtime for recorded speech, sent as fast as by a microphone: together they are the
 * transcript, and they are not late.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type FixtureName, readFixture, spoken } from '../speech/fixtures.ts'
import { loadPrompts } from '../speech/prompts.ts'
import { wordErrors } from '../speech/words.ts'
import { type Client, loadStreamModels, open, serverWithSpeech, start } from './socket.ts'

const transcription = 'conversation.item.input_audio_transcription'
const promptsCount = 20
const atOnce = 3
const bytesPerMs = 16
const frameMs = 100
/** The default end point time in /v1/realtime. */
const endpointingMs = 500

const parley = await serverWithSpeech()
const recordings = await load()
await loadStreamModels(parley)
const captions = each(caption)

type Recording = { text: string; pcm: Buffer }

/** Loads the recordings. If the prompts cannot be fetched, two recordings from the repository are joined. */
async function load(): Promise<Recording[]> {
  const loaded = await loadPrompts()
  const pause = Buffer.alloc(800 * bytesPerMs)
  if ('prompts' in loaded)
    return loaded.prompts.slice(0, promptsCount).map(({ text, wav }) => {
      return { text, pcm: Buffer.concat([wav.subarray(44), pause]) }
    })
  t.comment(loaded.missing)
  const names = Object.keys(spoken) as FixtureName[]
  const pairs = names.flatMap((first) => names.map((second) => [first, second] as const))
  return pairs.slice(0, promptsCount).map(([first, second]) => ({
    text: `${spoken[first]} ${spoken[second]}`,
    pcm: Buffer.concat([readFixture(first).subarray(44), readFixture(second).subarray(44), pause]),
  }))
}

async function speak(pcm: Buffer, send: (frame: Buffer) => void): Promise<void> {
  for (let at = 0; at < pcm.length; at += frameMs * bytesPerMs) {
    send(pcm.subarray(at, at + frameMs * bytesPerMs))
    await sleep(frameMs)
  }
}

async function each<T>(run: (recording: Recording) => Promise<T>): Promise<T[]> {
  const waiting = [...recordings.entries()]
  const results: T[] = []
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) results[next[0]] = await run(next[1])
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}

async function caption({ pcm }: Recording): Promise<Client> {
  const client = await open(parley, '/v1/realtime?intent=transcription', { protocols: [] })
  const format = { type: 'audio/pcm', rate: 8000 }
  const session = { type: 'transcription', audio: { input: { format, transcription: { language: 'en' } } } }
  client.send({ type: 'session.update', session })
  await speak(pcm, (frame) => client.send({ type: 'input_audio_buffer.append', audio: frame.toString('base64') }))
  while (!isComplete(client)) await client.take(`${transcription}.completed`)
  client.socket.close()
  await client.closed
  return client
}

/** Returns true if at least one item has begun, and every begun item has its transcript. */
function isComplete(client: Client): boolean {
  const [begun, ended] = ['input_audio_buffer.speech_started', `${transcription}.completed`].map(
    (type) => client.frames(type).length,
  )
  return begun === ended && ended! > 0
}

t.test('the deltas of each item add up to its transcript', async (t) => {
  t.equal(recordings.length, promptsCount)
  const clients = await captions
  let [errors, words] = [0, 0]
  for (const [i, client] of clients.entries()) {
    const completed = client.frames(`${transcription}.completed`)
    for (const { item_id: item, transcript } of completed) {
      const deltas = client.frames(`${transcription}.delta`).filter(({ item_id: of }) => of === item)
      const sum = deltas.map(({ delta }) => delta as string).join('')
      t.equal(squeezed(sum), squeezed(transcript as string))
      t.notOk(deltas.some(({ delta }) => delta === ''))
    }
    const counted = wordErrors(recordings[i]!.text, completed.map(({ transcript }) => transcript as string).join(' '))
    errors += counted.errors
    words += counted.words
    t.same(client.frames('error'), [])
  }
  t.comment(`${errors} of ${words} words are wrong`)
  t.ok(errors / words < 0.1, `${errors} of ${words} words`)
})

const squeezed = (text: string) => text.replace(/\s+/g, ' ').trim()

t.test('before the final texts at least one delta arrives for every two interim texts', async (t) => {
  const clients = await captions
  const spokenTexts = await each(interimsOf)
  const interims = spokenTexts.reduce((sum, count) => sum + count, 0)
  const deltas = clients.reduce((sum, client) => sum + client.frames(`${transcription}.delta`).length, 0)
  const early = clients.reduce((sum, client) => sum + earlyDeltas(client), 0)
  t.comment(`${interims} interims, ${deltas} deltas, ${early} of them before the final`)
  t.ok(interims > promptsCount, `${interims} interims`)
  t.ok(early >= interims / 2, `${early} deltas of ${interims} interims`)
})

/**
 * Counts interim transcripts on a stream with the same speech and the same end point setting, because /v1/realtime
 * sends no interim transcripts.
 */
async function interimsOf({ pcm }: Recording): Promise<number> {
  const client = await start(parley, '/v1/transcribe/stream', { sampleRate: 8000, language: 'en', endpointingMs })
  await speak(pcm, (frame) => client.sendBytes(frame))
  client.send({ type: 'end' })
  await client.closed
  return client.frames('transcript').filter(({ isFinal }) => !isFinal).length
}

/**
 * Counts the deltas that are sent while the person still speaks. The delta before `speech_stopped` does not count,
 * because this delta has the rest of the text from the final transcript.
 */
function earlyDeltas(client: Client): number {
  const types = client.received.map(({ frame }) => frame?.type)
  return types.filter(
    (type, i) => type === `${transcription}.delta` && types[i + 1] !== 'input_audio_buffer.speech_stopped',
  ).length
}
