import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { RouterClient } from '../generated/clients/router.ts'
import type { Actions } from './actions.ts'
import { pinnedTo, routerClient } from './client.ts'
import { print } from './print.ts'
import { withProgress } from './progress.ts'
import { pipe, textOf } from './stdin.ts'

type Options = { json: boolean; out: string; voice?: string; model?: string; language?: string; speed?: string }

const sampleRateHz = 24000
const headerBytes = 44

export function speak(program: Command, actions: Actions): void {
  program
    .command('speak')
    .description('text to speech, saved as WAV')
    .argument('<text>', 'the text, or - for standard input')
    .option('-o, --out <file>', 'where the WAV goes; - is standard output', 'speech.wav')
    .option('--voice <id>', 'a voice that `models --json` lists')
    .option('--model <pin>', 'provider/model; left out, the router chooses')
    .option('--language <tag>', 'language of the text, as a BCP 47 tag')
    .option('--speed <factor>', '0.25 to 4')
    .option('--json', 'print what was made as JSON', false)
    .action(async (text: string, { json, out, voice, model, language, speed }: Options) => {
      const more = {
        ...(voice && { voice }),
        ...(language && { language }),
        ...(speed && { speed: Number(speed) }),
        ...pinnedTo(model),
      }
      const client = routerClient(await actions.connection())
      const input = await textOf(text)
      const wav = await withProgress('speaking', () => speechWav(client, input, more))
      if (out === pipe) return writeToStdout(wav)
      writeFileSync(out, wav)
      const durationMs = wavDurationMs(wav)
      const made = { file: out, duration_ms: durationMs, sample_rate_hz: sampleRateHz, bytes: wav.length }
      print(json, made, () => [`${out}: ${(durationMs / 1000).toFixed(1)} s`])
    })
}

/** Resolves when all is written: a pipe takes less at a time than a sentence has bytes. */
function writeToStdout(bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}

/** Speaks the text and answers a WAV file, 24 kHz mono. */
export async function speechWav(client: RouterClient, text: string, more: object = {}): Promise<Buffer> {
  const answer = await client.createSpeech({ body: { input: text, audio: { sample_rate_hz: sampleRateHz }, ...more } })
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body) chunks.push(chunk)
  return withHeader(Buffer.concat(chunks))
}

/** For a file of `speechWav`. */
export function wavDurationMs(wav: Buffer): number {
  return Math.round((wav.length - headerBytes) / 2 / (sampleRateHz / 1000))
}

/** Puts a RIFF header in front of PCM, 16 bits, mono (Multimedia Programming Interface and Data Specifications 1.0, 1991). */
function withHeader(samples: Buffer): Buffer {
  const head = Buffer.alloc(headerBytes)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(36 + samples.length, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(sampleRateHz, 24)
  head.writeUInt32LE(sampleRateHz * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36, 'latin1')
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}
