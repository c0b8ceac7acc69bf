/** Small files that contain far more audio than they declare are refused quickly and with little memory. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Recording } from '../../audio/format.ts'
import { packetPieces, packetsIn } from '../../providers/local/children/packets.ts'
import { recognised } from '../audio/build.ts'
import { expandingFlac, expandingOgg, expandingWebm } from '../audio/expanding.ts'
import { spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import { eventually, fixture, type Local, openLocal, outcome } from './setup.ts'

/**
 * The limit for a refusal's CPU time. CPU time does not count other processes. Without limits the decoder needed a
 * minute.
 */
const refusedMsMax = 5000
/**
 * The maximum memory that these recordings may need beyond an ordinary recording. The largest Ogg page, 30.6 s with 8
 * channels, needs most of it. Without limits in the decoder the memory grew by a gigabyte.
 */
const grownMbMax = 300

/** Returns the process's peak memory so far. */
function peakMb(local: Local): number {
  const status = readFileSync(`/proc/${local.started[0]}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)![1]) / 1000
}

/** Returns the process's CPU time so far. The kernel counts hundredths of a second. */
function coreMs(local: Local): number {
  const fields = readFileSync(`/proc/${local.started[0]}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

async function serves(
  local: Local,
  t: { equal: (found: number, wanted: number, message: string) => unknown },
): Promise<void> {
  const { text } = await local.transcribe(fixture('privacy-prompt'))
  t.equal(wordErrors(spoken['privacy-prompt'], text).errors, 0, text)
}

const expanding: Record<string, () => Uint8Array> = {
  'FLAC of 3000 frames that all have the number 0': () => expandingFlac(3000, 1),
  'FLAC of 8 channels': () => expandingFlac(3000, 8),
  'Ogg of 80 pages with the position of the second': () => expandingOgg(80, 1),
  'Ogg of 8 channels': () => expandingOgg(80, 8),
}

t.test('a recording that decodes to more audio than it declares is a bad request', async (t) => {
  const local = openLocal(t)
  await serves(local, t)
  const honestMb = peakMb(local)
  for (const [name, bytes] of Object.entries(expanding)) {
    const recording: Recording = recognised([bytes()], null)
    t.ok(recording.durationMs < 40_000, `${name} declares ${recording.durationMs} ms`)
    const beganMs = coreMs(local)
    const refused = outcome(local.transcribe(recording))
    const beside = serves(local, t)
    t.equal(await refused, 'bad_request sent', name)
    const tookMs = coreMs(local) - beganMs
    t.ok(tookMs < refusedMsMax, `${name}: refused after ${tookMs} ms of a core`)
    await beside
  }
  const grownMb = peakMb(local) - honestMb
  t.ok(grownMb < grownMbMax, `the process grew by ${Math.round(grownMb)} MB`)
  t.equal(local.started.length, 1, 'by one process')
})

t.test('the speech in all logical streams of an Ogg file is transcribed', async (t) => {
  const local = openLocal(t)
  const { format, chunks } = fixture('privacy-prompt', 'opus')
  t.equal(format.container, 'ogg')
  const { text } = await local.transcribe(recognised([...chunks, ...chunks, ...chunks], null))
  const wrong = wordErrors(`${spoken['privacy-prompt']} `.repeat(3), text)
  t.ok(wrong.errors <= 1, text)
})

t.test('a recording is split into pieces of at most one minute, even if its packets are tiny', (t) => {
  const packets = new Array<Uint8Array>(16_000).fill(Uint8Array.of(91, 2))
  const counts = [...packetPieces(packets, 64 * 1024)].map((piece) => packetsIn(piece).length)
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    packets.length,
  )
  t.ok(Math.max(...counts) * 120 <= 60_000, `${Math.max(...counts)} packets`)
  t.end()
})

t.test('after a long recording in small packets is cancelled, the next recording is soon recognized', async (t) => {
  const local = openLocal(t)
  await serves(local, t)
  const honestMb = peakMb(local)
  const recording = recognised([expandingWebm(16_000)], null)
  t.equal(recording.durationMs, 16_000 * 120, 'the declared duration is true')
  const cancel = new AbortController()
  const idleMs = coreMs(local)
  const work = outcome(local.transcribe(recording, cancel.signal))
  t.ok(await eventually(() => coreMs(local) - idleMs > 200), 'the engine works on the recording')
  cancel.abort()
  t.equal(await work, 'cancelled sent')
  const beganMs = coreMs(local)
  await serves(local, t)
  const tookMs = coreMs(local) - beganMs
  t.ok(tookMs < refusedMsMax, `the next one is served after ${tookMs} ms of a core`)
  const grownMb = peakMb(local) - honestMb
  t.ok(grownMb < grownMbMax, `the process grew by ${Math.round(grownMb)} MB`)
})
