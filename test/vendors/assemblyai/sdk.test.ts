/**
 * Drives the vendor's SDK against the stub. If the SDK understands the stub, the stub behaves like the vendor. For live
 * speech the SDK requires wss.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { until } from '../suite/given.ts'
import type { Cell } from '../suite/matrix.ts'
import { recordingPcm } from '../suite/stt.ts'
import { sinePcm, transcriptOf } from '../suite/stub-server.ts'
import { startAssemblyaiStub } from './stub.ts'

/** The part of the SDK that this test uses. The SDK is installed apart from the product. */
type Turn = { transcript: string; end_of_turn: boolean; turn_is_formatted: boolean }
type Transcriber = {
  connect(): Promise<{ id: string }>
  on(event: 'turn', listener: (turn: Turn) => void): void
  on(event: 'error', listener: (error: Error & { code?: number }) => void): void
  on(event: 'close', listener: (code: number) => void): void
  sendAudio(audio: Uint8Array): void
  forceEndpoint(): void
  close(waits?: boolean): Promise<void>
}
type Transcript = { id: string; status: string; text: string; words: { text: string; end: number }[]; error?: string }
type Client = {
  transcripts: {
    transcribe(order: object, options: object): Promise<Transcript>
    delete(id: string): Promise<{ text: string }>
    list(query: object): Promise<{ transcripts: object[] }>
  }
}
type Sdk = {
  AssemblyAI: new (options: object) => Client
  StreamingTranscriber: new (options: object) => Transcriber
}

const sdk = load()
const skip = sdk ? false : 'assemblyai is not installed: npm ci in test/vendors'

void t.test('the AssemblyAI SDK transcribes a recording from the stub', { skip }, async (t) => {
  const stub = await startAssemblyaiStub()
  t.teardown(() => stub.close())
  const client = new (present(sdk).AssemblyAI)({ apiKey: 'key', baseUrl: stub.url })
  const transcribe = (cell: Cell) => {
    stub.behave(cell)
    const order = { audio: recordingPcm, speech_models: ['universal-2'] }
    return client.transcripts.transcribe(order, { pollingInterval: 20 })
  }
  for (const cell of ['ok', 'slow_first_byte'] as const) {
    const transcript = await transcribe(cell)
    t.equal(transcript.text, transcriptOf(recordingPcm), cell)
    t.match(transcript.words, [{ text: 'heard' }, { end: 250 }])
    t.match(await client.transcripts.delete(transcript.id), { text: 'Deleted by user.' })
  }
  t.match(await transcribe('error_mid'), { status: 'error', error: String })
  for (const cell of ['auth', 'quota', 'rate_limited', 'server', 'bad_request'] as const)
    await t.rejects(() => transcribe(cell), /says to people/, cell)
  for (const cell of ['cut', 'reset', 'garbage'] as const) await t.rejects(() => transcribe(cell), cell)
  stub.behave('ok')
  t.same((await client.transcripts.list({ limit: 1 })).transcripts, [])
  t.match(stub.seen, [{ method: 'GET', path: '/v2/transcript?limit=1' }])
})

void t.test("the AssemblyAI SDK understands the stub's live recognition", { skip }, async (t) => {
  const stub = await startAssemblyaiStub(selfSigned(t))
  t.teardown(() => stub.close())
  // The SDK has no option for a separate certificate.
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.teardown(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
  const [first, second] = [sinePcm(4000, 16_000), sinePcm(3200, 16_000)]

  await t.test('the AssemblyAI SDK receives two turns', async (t) => {
    stub.behave('ok')
    const { transcriber, turns } = listen(stub.url, 'universal-streaming-english')
    t.match(await transcriber.connect(), { id: 'session' })
    transcriber.sendAudio(first)
    transcriber.forceEndpoint()
    await until(() => turns.some(({ end_of_turn }) => end_of_turn), 'no turn')
    transcriber.sendAudio(second)
    await transcriber.close()
    t.same(
      turns.map(({ transcript, end_of_turn, turn_is_formatted }) => [transcript, end_of_turn, turn_is_formatted]),
      [first, second].flatMap((audio) => [
        ['', false, false],
        [transcriptOf(audio), true, false],
        [transcriptOf(audio), true, true],
      ]),
    )
  })

  await t.test('the AssemblyAI SDK receives the error of a refused session', async (t) => {
    const codes = { auth: 4001, quota: 4002, rate_limited_bare: 3009, server: 3005, bad_request: 3006 }
    for (const [cell, code] of Object.entries(codes)) {
      stub.behave(cell as Cell)
      await t.rejects(listen(stub.url).transcriber.connect(), { code, message: /says to people/ }, cell)
    }
    stub.behave('overloaded')
    await t.rejects(listen(stub.url).transcriber.connect(), /503/)
  })

  await t.test('the AssemblyAI SDK reports a session that breaks in the middle', async (t) => {
    for (const [cell, code] of [
      ['error_mid', 3005],
      ['cut', 1006],
    ] as const) {
      stub.behave(cell)
      const { transcriber, errors, closes } = listen(stub.url)
      await transcriber.connect()
      transcriber.sendAudio(first)
      await until(() => closes.length > 0, 'not closed')
      t.same(closes, [code], cell)
      if (cell === 'error_mid') t.match(errors, [{ code: 3005 }])
    }
  })
})

function listen(url: string, speechModel = 'u3-rt-pro') {
  const transcriber = new (present(sdk).StreamingTranscriber)({
    apiKey: 'key',
    websocketBaseUrl: `${url.replace('https:', 'wss:')}/v3/ws`,
    sampleRate: 16_000,
    encoding: 'pcm_s16le',
    speechModel,
    formatTurns: speechModel.startsWith('universal-streaming'),
    maxConnectionRetries: 0,
  })
  const turns: Turn[] = []
  const errors: Error[] = []
  const closes: number[] = []
  transcriber.on('turn', (turn) => turns.push(turn))
  transcriber.on('error', (error) => errors.push(error))
  transcriber.on('close', (code) => closes.push(code))
  return { transcriber, turns, errors, closes }
}

function selfSigned(t: Test): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'parley-tls-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', ...curve, ...names, '-days', '1', '-keyout', key, '-out', cert], {
    stdio: 'ignore',
  })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

function load(): Sdk | null {
  try {
    return createRequire(import.meta.url)('assemblyai') as Sdk
  } catch {
    return null
  }
}

function present(sdk: Sdk | null): Sdk {
  if (!sdk) throw new Error('the SDK is not installed')
  return sdk
}
