import t from 'tap'
import { createConvertSpeech } from '../../audio/encode-output.ts'
import type { OutputFormat } from '../../audio/format.ts'
import { isPresetVoice } from '../../domain/catalog/voices.ts'
import type { Model, Voice } from '../../domain/ports/model.ts'
import { type Ask, baseAsk, type Routing } from '../../domain/routing/ask.ts'
import { createSynthesize, type SynthesizeInput } from '../../domain/speech/synthesize.ts'
import { createResampler } from '../../runtime/optional.ts'
import { bench, caller, collect, failure, fault, model, order, provider, script } from './fakes.ts'

const convertSpeech = createConvertSpeech(createResampler)

const pcm24: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }

function voice(id: string, gender: Voice['gender'], language?: string): Voice {
  return { id, name: id, gender, styles: [], ...(language !== undefined && { language }) }
}

/** Returns the voices in the requests to the providers a, b … All but the last provider fail. */
async function asked(rows: Voice[][], extra: Partial<SynthesizeInput> = {}): Promise<(string | undefined)[]> {
  const voices: (string | undefined)[] = []
  const providers = rows.map((row, i) => {
    const synthesize = (request: { voice?: string }) => {
      voices.push(request.voice)
      if (i < rows.length - 1) return Promise.reject(failure('server'))
      return Promise.resolve({ format: pcm24, audio: script([Uint8Array.of(1, 2)]) })
    }
    return provider('abc'[i] ?? '', [model('tts', { voices: row })], { tts: { synthesize } })
  })
  const synthesize = createSynthesize({ ...bench(providers).deps, convert: convertSpeech })
  const routing = { mode: 'auto', objective: 'balanced' } as const
  await collect((await synthesize({ ...order(), routing, text: 'hi', outputFormat: pcm24, ...extra })).audio)
  return voices
}

const english = [voice('en_m', 'male', 'en'), voice('en_f', 'female', 'en-US'), voice('es_f', 'female', 'es')]

t.test('a preset such as nova selects a voice of the chosen provider by name, gender or language', async (t) => {
  t.ok(['alloy', 'marin', 'cedar'].every(isPresetVoice))
  t.notOk(isPresetVoice('en_m'))
  t.same(await asked([[voice('x', 'male'), voice('nova', 'male')]], { preset: 'nova' }), ['nova'], 'of that name')
  t.same(await asked([english], { preset: 'nova' }), ['en_f'], 'otherwise a voice of the same gender')
  t.same(await asked([english], { preset: 'nova', language: 'es-MX' }), ['es_f'], 'and of the language')
  t.same(await asked([english], { preset: 'alloy' }), [undefined], "else the provider's default")
  t.same(await asked([[], english], { preset: 'echo' }), [undefined, 'en_m'], 'at every provider')
})

t.test("a model gets the language's region if it lists the region or accepts any region", async (t) => {
  const regionSent = async (over: Partial<Model>) => {
    let sent: string | undefined
    const synthesize = (request: { language?: string }) => {
      sent = request.language
      return Promise.resolve({ format: pcm24, audio: script([Uint8Array.of(1, 2)]) })
    }
    const one = provider('a', [model('tts', over)], { tts: { synthesize } })
    const speak = createSynthesize({ ...bench([one]).deps, convert: convertSpeech })
    const routing = { mode: 'auto', objective: 'balanced' } as const
    const input = { ...order(), routing, text: 'hi', outputFormat: pcm24, language: 'en-AU' }
    await collect((await speak(input)).audio)
    return sent
  }
  t.equal(await regionSent({ languages: ['en'] }), 'en')
  t.equal(await regionSent({ languages: ['en', 'en-AU'] }), 'en-AU')
  t.equal(await regionSent({ languages: ['en'], acceptsRegions: true }), 'en-AU')
})

t.test("the request's voice wins over the API key's voice, and the API key's voice over the default", async (t) => {
  const withVoice = { caller: caller({ voice: 'en_f' }) }
  t.same(await asked([english], withVoice), ['en_f'])
  t.same(await asked([english], { ...withVoice, voice: 'auto' }), ['en_f'], 'auto says nothing')
  t.same(await asked([english], { ...withVoice, preset: 'auto' }), ['en_f'])
  t.same(await asked([english], { ...withVoice, voice: 'es_f' }), ['es_f'])
  t.same(await asked([english], { ...withVoice, preset: 'onyx' }), ['en_m'])
  t.same(await asked([[voice('z', 'male')], english], withVoice), ['en_f'], 'a voice id restricts the routing')
  t.match(await fault(asked([english], { voice: 'nobody' })), { kind: 'voice_unknown' })
})

t.test('if the voice of an API key is a preset or auto, it does not limit the choice of providers', async (t) => {
  const ofKey = (policy: string) => ({ caller: caller({ voice: policy }) })
  t.same(await asked([english], ofKey('nova')), ['en_f'], 'a preset is a voice of the provider chosen')
  t.same(await asked([[voice('z', 'male')], english], ofKey('nova')), ['en_f'], 'a provider with such a voice is first')
  const failing = [english, [voice('z', 'male')]]
  t.same(await asked(failing, ofKey('nova')), ['en_f', undefined], 'every candidate stays')
  t.same(await asked([english], ofKey('auto')), [undefined], 'auto is the default of the provider')
  t.same(await asked([english], { ...ofKey('nova'), preset: 'onyx' }), ['en_m'], 'the request goes before it')
})

t.test("a pinned model takes precedence over an API key's voice at another provider", async (t) => {
  const pinned = {
    routing: { mode: 'explicit', provider: 'b', model: 'm' } as const,
    caller: caller({ voice: 'en_f' }),
  }
  t.same(await asked([english, [voice('z', 'male')]], pinned), [undefined], 'which speaks with its default')
  t.same(await asked([english, []], pinned), [undefined], 'also if the provider lists no voices')
  t.same(await asked([[], english], pinned), ['en_f'], 'with the voice if the provider has it')
  t.same(await asked([[], []], pinned), ['en_f'], 'a voice that nobody lists goes to the pinned provider')
  t.match(await fault(asked([english, [voice('z', 'male')]], { ...pinned, voice: 'en_f' })), { kind: 'voice_unknown' })
})

t.test("a failover keeps the speaker's gender and language if the next provider has such a voice", async (t) => {
  t.same(await asked([[voice('f', 'female', 'en')], english]), [undefined, 'en_f'], 'the gender and the language')
  t.same(await asked([[voice('f', 'female', 'en')], english], { language: 'es' }), [undefined, 'es_f'])
  t.same(await asked([[voice('f', 'neutral')], english]), [undefined, undefined], 'where there is one like it')
  t.same(await asked([[], english]), [undefined, undefined], 'where it is known')
})

t.test('a voice id selects its provider, and a pinned model without a voice list receives it unchanged', (t) => {
  const auto: Routing = { mode: 'auto', objective: 'balanced' }
  const pinned = (id: string): Routing => ({ mode: 'explicit', provider: id, model: 'm' })
  const { chooser } = bench([
    provider('a', [model('tts', { voices: [voice('v1', 'female')] })]),
    provider('b', [model('tts', { voices: [voice('v2', 'female')] })]),
    provider('c', [model('tts')]),
  ])
  const pins = (over: Partial<Ask>, who = caller()) =>
    chooser.choose({ ...baseAsk(who, 'tts', auto, undefined), ...over }).candidates.map(({ row }) => row.pin)
  t.same(pins({ voice: 'v2' }), ['b/m'])
  t.same(pins({}, caller({ voice: 'v1' })), ['a/m'], "the key's voice fills in")
  t.same(pins({ voice: 'v1', routing: pinned('c') }), ['c/m'])
  t.same(pins({ voice: 'v1', routing: pinned('b') }), [])
  t.end()
})
