/** Text frames: JSON objects with a field, `type` on most channels, to select the session's method for them. */

import type { Channel } from '../engine/channel.ts'
import { Refusal } from '../engine/handler.ts'
import { parseJson } from '../engine/json.ts'
import type { FrameProblem, SocketSession } from '../engine/socket.ts'
import { refuseBody } from '../engine/violation.ts'

/** Calls the session's method for the frame, or `onRefused` with the reason. */
export function takeText(channel: Channel, session: SocketSession, text: string): void {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    return session.onRefused(unreadable(error))
  }
  if (!isObject(value)) return session.onRefused({ kind: 'invalid', type: null, message: 'a frame is a JSON object' })
  const type = value[frameTypeOf(channel)]
  if (typeof type !== 'string' || !Object.hasOwn(channel.receives, type)) {
    return session.onRefused(unknownType(channel, type))
  }
  const rule = channel.receives[type]
  if (!rule) return
  if (!rule.validate(value)) {
    const { message, detail } = refuseBody(rule.validate.errors, 'the frame')
    const { param: pointer, keyword = '' } = detail
    return session.onRefused({ kind: 'invalid', type, message, ...(pointer && { field: { pointer, keyword } }) })
  }
  // The generated session type has a method with this name for the validated frame.
  const methods = session as unknown as Record<string, (frame: unknown) => void>
  methods[rule.on]?.(value)
}

export const binaryRefused: FrameProblem = {
  kind: 'binary',
  type: null,
  message: 'this address takes text frames alone',
}

export type SentFrames = NonNullable<Channel['sends']>

/** Returns the reason why our frame breaks the contract; null if it does not. */
export function wrongSent(channel: Channel, text: string, sends: SentFrames): string | null {
  const value: unknown = JSON.parse(text)
  const type = isObject(value) ? value[frameTypeOf(channel)] : undefined
  const validate = typeof type === 'string' && Object.hasOwn(sends, type) ? sends[type] : undefined
  if (!validate) return `${channel.id} sent a frame of a type that the contract does not know`
  return validate(value) ? null : `${channel.id} ${String(type)}: ${refuseBody(validate.errors, 'the frame').message}`
}

function unreadable(error: unknown): FrameProblem {
  if (error instanceof Refusal && error.kind === 'invalid_parameter') {
    return { kind: 'invalid', type: null, message: error.message }
  }
  return { kind: 'not_json', type: null, message: 'the frame is not valid JSON' }
}

const frameTypeOf = ({ frameType = 'type' }: Channel) => frameType

function unknownType(channel: Channel, type: unknown): FrameProblem {
  const allowedTypes = Object.keys(channel.receives).join(', ')
  const field = `/${frameTypeOf(channel)}`
  const isText = typeof type === 'string'
  return {
    kind: 'unknown_type',
    type: isText ? type.slice(0, typeCharactersMax) : null,
    message:
      type === undefined ? `${field} is required: one of ${allowedTypes}` : `${field} must be one of ${allowedTypes}`,
  }
}

const typeCharactersMax = 64

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
