import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { RouterClient } from '../generated/clients/router.ts'
import type { Actions } from './actions.ts'
import { pinnedTo, routerClient } from './client.ts'
import { withProgress } from './progress.ts'

type Options = { out: string; voice?: string; model?: string; language?: string; speed?: string }

const sampleRateHz = 24000

export function speak(program: Command, actions: Actions): void {
  program
    .command('speak')
    .description('text to speech, saved as WAV')
    .argument('<text>')
    .option('-o, --out <file>', 'where the WAV goes', 'speech.wav')
    .option('--voice <id>', 'a voice that `models --json` lists')
    .option('--model <pin>', 'provider/model; left out, the router chooses')
    .option('--language <tag>', 'language of the text, as a BCP 47 tag')
    .option('--speed <factor>', '0.25 to 4')
    .action(async (text: string, { out, voice, model, language, speed }: Options) => {
      const more = {
        ...(voice && { voice }),
        ...(language && { language }),
        ...(speed && { speed: Number(speed) }),
        ...pinnedTo(model),
      }
      const client = routerClient(await actions.connection())
      const wav = await withProgress('speaking', () => speechWav(client, text, more))
      writeFileSync(out, wav)
      console.log(`${out}: ${((wav.length - 44) / 2 / sampleRateHz).toFixed(1)} s`)
    })
}

/** Speaks the text and answers a WAV file, 24 kHz mono. */
export async function speechWav(client: RouterClient, text: string, more: object = {}): Promise<Buffer> {
  const answer = await client.createSpeech({ body: { input: text, audio: { sample_rate_hz: sampleRateHz }, ...more } })
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body) chunks.push(chunk)
  return withHeader(Buffer.concat(chunks))
}

/** Puts a RIFF header in front of PCM, 16 bits, mono (Multimedia Programming Interface and Data Specifications 1.0, 1991). */
function withHeader(samples: Buffer): Buffer {
  const head = Buffer.alloc(44)
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
