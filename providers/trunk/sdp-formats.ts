/** Reads a stream's formats: payload type numbers from its m= line, names from a=rtpmap (RFC 8866, section 6.6). */
export type LineEncoding = 'PCMU' | 'PCMA'
export type SpeechFormat = { payloadType: number; encoding: LineEncoding }
export type EventFormat = { payloadType: number; encoding: 'telephone-event' }
export type SdpFormat = SpeechFormat | EventFormat

const staticTypes: Readonly<Record<number, LineEncoding>> = { 0: 'PCMU', 8: 'PCMA' }
const encodings: Readonly<Record<string, SdpFormat['encoding']>> = {
  pcmu: 'PCMU',
  pcma: 'PCMA',
  'telephone-event': 'telephone-event',
}

export const isEvent = (format: SdpFormat): format is EventFormat => format.encoding === 'telephone-event'
export const isSpeech = (format: SdpFormat): format is SpeechFormat => !isEvent(format)

/**
 * Returns the supported formats, the preferred format first. The payload types in `offered` need no a=rtpmap, because
 * our offer already defined them.
 */
export function formatsOf(
  lines: readonly string[],
  types: readonly number[],
  offered: readonly SdpFormat[] = [],
): SdpFormat[] {
  const names = rtpmapsOf(lines)
  return types.flatMap((payloadType): SdpFormat[] => {
    const name = names.get(payloadType)
    const unnamed = offered.find((format) => format.payloadType === payloadType)?.encoding ?? staticTypes[payloadType]
    const encoding = name === undefined ? unnamed : encodingOf(name)
    return encoding === undefined ? [] : [{ payloadType, encoding }]
  })
}

function rtpmapsOf(lines: readonly string[]): Map<number, string> {
  return new Map(
    lines.flatMap((line) => {
      const [, type, name] = /^a=rtpmap: *(\d{1,3}) +(.+)$/i.exec(line) ?? []
      return type === undefined || name === undefined ? [] : [[Number(type), name.toLowerCase()] as const]
    }),
  )
}

/** Returns the encoding for a name in a=rtpmap. A name without a channel count has 1 channel. */
function encodingOf(name: string): SdpFormat['encoding'] | undefined {
  const [, encoding = ''] = /^([\w-]+) *\/ *8000 *(?:\/ *1)?$/.exec(name) ?? []
  return Object.hasOwn(encodings, encoding) ? encodings[encoding] : undefined
}
