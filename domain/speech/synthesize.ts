import type { OutputFormat } from '../../audio/format.ts'
import type { Quantity } from '../billing/ledger.ts'
import { deliver } from '../deliver.ts'
import { type Exchange, type ExchangeDeps, type Order, openExchange, type Route } from '../exchange.ts'
import { Fault } from '../fault.ts'
import { type Ask, baseAsk, type Capability } from '../routing/ask.ts'
import type { Call } from '../routing/call.ts'
import type { Row } from '../routing/catalog.ts'
import { begin, follow } from '../routing/follow.ts'
import { spoken } from '../routing/language.ts'
import { ProviderError } from '../routing/provider-error.ts'
import type { Routing } from '../routing/routing.ts'
import type { TtsRequest } from './tts.ts'

/** `audio/` implements it. Throws at once for formats that it cannot turn into one another. */
type ConvertSpeech = (
  audio: AsyncIterable<Uint8Array>,
  from: OutputFormat,
  to: OutputFormat,
) => AsyncIterable<Uint8Array>

export type SynthesizeDeps = ExchangeDeps & { convert: ConvertSpeech }

export type SynthesizeOrder = Order & {
  routing: Routing
  text: string
  /** A voice id of one provider. Omitted: the key's, else the provider's default. */
  voice?: string
  language?: string
  instructions?: string
  speed?: number
  wanted: OutputFormat
}

/** `audio` is to be read once. Its iteration throws Fault when the provider breaks off. */
export type Synthesis = { route: Route; characters: number; audio: AsyncIterable<Uint8Array> }

/** Resolves when the first audio has arrived, failing over until then: a failure is never a success with nothing in it. Throws Fault. */
export function createSynthesize(deps: SynthesizeDeps): (order: SynthesizeOrder) => Promise<Synthesis> {
  return async (order) => {
    if (order.text.trim() === '')
      throw new Fault('invalid_parameter', { param: '/input', message: 'There is nothing to say: the text is blank.' })
    const ask = askOf(order)
    const characters = charactersOf(order.text)
    const quantities: Quantity[] = [{ unit: 'characters', amount: characters }]
    const exchange = await openExchange(deps, order, {
      ask,
      atOnce: false,
      worstCase: () => quantities,
      run: (row, call) => openSpeech(deps, row, order, ask, call),
    })
    return { route: exchange.route, characters, audio: delivered(exchange, quantities) }
  }
}

function askOf(order: SynthesizeOrder): Ask {
  const { caller, routing, wanted } = order
  const ask = baseAsk(caller, 'tts', routing, order.language)
  const needs: Capability[] = []
  if (order.instructions) needs.push('instructions')
  if (changesSpeed(order)) needs.push('speed')
  return {
    ...ask,
    needs: [...ask.needs, ...needs],
    voice: order.voice ?? ask.voice,
    // Samples are resampled and encoded here; Opus comes from the provider or not at all.
    audio: wanted.encoding === 'opus' ? { ...wanted } : null,
  }
}

/** 1 is the voice's own speed: asking for it asks nothing, and a provider without the setting is not sent it. */
function changesSpeed(order: SynthesizeOrder): order is SynthesizeOrder & { speed: number } {
  return order.speed !== undefined && order.speed !== 1
}

const surrogatePair = /[\ud800-\udbff][\udc00-\udfff]/g

/** What is billed: characters as a reader counts them, so that an emoji is one and not two. */
function charactersOf(text: string): number {
  return text.length - (text.match(surrogatePair)?.length ?? 0)
}

/** Resolves with the audio in the wanted format once its first chunk is here. */
async function openSpeech(
  { convert, limits }: SynthesizeDeps,
  row: Row,
  order: SynthesizeOrder,
  ask: Ask,
  call: Call,
): Promise<AsyncIterable<Uint8Array>> {
  const { tts } = row.provider
  if (!tts) throw new ProviderError('unsupported', { sent: false })
  const speech = await tts.synthesize(requestFor(row, order, ask), call.signal)
  const chunks = begin(call, speech.audio)
  const first = await firstAudio(chunks)
  try {
    return convert(follow(call, first, chunks, limits.tts.idleMs), speech.format, order.wanted)
  } catch (cause) {
    throw new ProviderError('unsupported', { sent: true, cause })
  }
}

function requestFor(row: Row, order: SynthesizeOrder, ask: Ask): TtsRequest {
  return {
    model: row.model.id,
    text: order.text,
    wanted: order.wanted,
    ...(ask.voice !== null && { voice: ask.voice }),
    ...(ask.language && { language: spoken(row.model.languages, ask.language) }),
    ...(order.instructions && { instructions: order.instructions }),
    ...(changesSpeed(order) && { speed: order.speed }),
  }
}

async function firstAudio(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  for (;;) {
    const next = await chunks.next()
    if (next.done) throw new ProviderError('empty', { sent: true })
    if (next.value.length > 0) return next.value
  }
}

/** The provider bills what it was sent, so a listener who leaves early owes all of it; audio that broke off is owed by nobody. */
function delivered(exchange: Exchange<AsyncIterable<Uint8Array>>, quantities: Quantity[]): AsyncIterable<Uint8Array> {
  const owed = (error: unknown) =>
    error instanceof ProviderError && error.errorClass !== 'cancelled' ? [] : quantities
  const done = () => exchange.succeed(quantities, { firstByteMs: exchange.elapsedMs })
  return deliver(exchange, exchange.value, { done, owed })
}
