import { createCompatClient } from '../../../generated/clients/typescript/compat.ts'

const speech = createCompatClient({ baseUrl: window.location.origin, timeoutMs: 30_000, retriesMax: 0 })

/** Speaks a sentence with the voice. The request is billed like any other request. */
export async function previewVoice(voice: string, input: string): Promise<void> {
  const { body } = await speech.createCompatSpeech({ body: { model: 'auto', voice, input, response_format: 'wav' } })
  const blob = await new Response(body as ReadableStream<Uint8Array>).blob()
  const address = URL.createObjectURL(new Blob([blob], { type: 'audio/wav' }))
  const audio = new Audio(address)
  audio.addEventListener('ended', () => URL.revokeObjectURL(address))
  await audio.play()
}
