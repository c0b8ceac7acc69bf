/** The behaviour suite of `Stt.transcribe`. The stub transcribes the received samples as `transcriptOf(samples)`. */
import type { Test } from 'tap'
import type { Recording } from '../../../audio/format.ts'
import { wavHeader } from '../../../audio/wav.ts'
import type { Provider } from '../../../domain/ports/provider.ts'
import type { Stt, SttRequest, Transcript } from '../../../domain/ports/stt.ts'
import { never, type PortRules, playOperation, present, type SuiteGiven, withProvider } from './given.ts'
import { sinePcm, transcriptOf } from './stub-server.ts'

export type SttGiven = SuiteGiven & {
  /** Returns the stub's transcript. If absent, `transcriptOf` makes it. */
  text?: (samples: Buffer) => string
  /** The vendor reports the billed time, in whole milliseconds of this recording. */
  billedMs?: number
}

export const recordingFormat = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 } as const
export const recordingPcm: Buffer = sinePcm(4000, recordingFormat.sampleRateHz)
export const recordingMs = 250

export async function sttSuite(t: Test, given: SttGiven): Promise<void> {
  const { text = transcriptOf } = given
  const stt = (provider: Provider): Stt => present(provider.ports.speech?.stt, 'stt')
  const request = (recording: Recording): SttRequest => ({ model: given.model, recording, options: {} })
  await playOperation(t, given, rules, {
    name: 'transcribe',
    call: (provider, signal) => stt(provider).transcribe(request(rawRecording(recordingPcm)), signal),
    check: (t, transcript) => checkTranscript(t, transcript, text(recordingPcm), given),
  })
  await t.test('transcribe: the header of a WAV file is not sent as samples', (t) =>
    withProvider(t, given, 'ok', async (provider) => {
      const transcript = await stt(provider).transcribe(request(wavRecording(recordingPcm)), never)
      checkTranscript(t, transcript, text(recordingPcm), given)
    }),
  )
  await t.test('transcribe: silence gives an empty transcript and no failure', (t) =>
    withProvider(t, given, 'ok', async (provider) => {
      const silence = Buffer.alloc(recordingPcm.length)
      const { text, segments } = await stt(provider).transcribe(request(rawRecording(silence)), never)
      t.equal(text, '')
      t.same(segments, [])
    }),
  )
}

/** An answer without its transcript is not silence but a protocol error. */
const rules: PortRules = {
  expected: {
    empty: { errorClass: 'protocol', because: 'a JSON object without a transcript' },
    header_only: { errorClass: 'protocol', because: 'a status line and an empty body' },
  },
}

/** The recording in chunks, which are not aligned to samples. */
export function rawRecording(pcm: Buffer): Recording {
  const cuts = [0, 1, 1000, 1001, 4097, pcm.length]
  const chunks = cuts.slice(1).map((end, i) => pcm.subarray(cuts[i], end))
  const format = { container: 'raw', ...recordingFormat } as const
  return { chunks, bytes: pcm.length, format, dataOffset: 0, dataBytes: pcm.length, durationMs: recordingMs }
}

export function wavRecording(pcm: Buffer): Recording {
  const header = wavHeader(recordingFormat, pcm.length)
  const chunks = [Buffer.concat([header, pcm.subarray(0, 7)]), pcm.subarray(7)]
  const format = { container: 'wav', ...recordingFormat } as const
  const bytes = header.length + pcm.length
  return { chunks, bytes, format, dataOffset: header.length, dataBytes: pcm.length, durationMs: recordingMs }
}

function checkTranscript(t: Test, transcript: Transcript, text: string, { billedMs }: SttGiven): void {
  t.equal(transcript.text, text, 'all of the audio arrived, once')
  t.ok(transcript.segments.length > 0, 'a text has segments')
  for (const { startMs, endMs } of transcript.segments) t.ok(startMs >= 0 && endMs >= startMs, 'a segment has its time')
  t.equal(transcript.billedMs, billedMs, 'billedMs')
}
