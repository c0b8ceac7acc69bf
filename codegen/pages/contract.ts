/**
 * A contract's data for its documentation pages, with all descriptions, examples and unresolved references to schemas.
 */
import type { Schema } from '../schema.ts'

export type Example = { summary: string; value: unknown }

export type Content = {
  type: string
  schema: Schema | null
  examples: Example[]
  /** An event stream's component by event name. */
  events: Readonly<Record<string, string>>
  /** The component in each frame of an event stream without names. Null for all other types. */
  eventData: string | null
}

export type Named = { name: string; required: boolean; description: string; schema: Schema; example: unknown }
export type Parameter = Named & { in: 'path' | 'query' | 'header'; bytesMax: number | null }

export type Answer = { status: string; description: string; headers: Named[]; content: Content[] }

export type Operation = {
  id: string
  method: string
  /** A path with its API's base path, or a webhook's event name. */
  path: string
  tag: string
  summary: string
  description: string
  scope: string | null
  role: string | null
  needsKey: boolean
  isDeprecated: boolean
  parameters: Parameter[]
  body: { required: boolean; description: string; content: Content[] } | null
  answers: Answer[]
}

export type Message = {
  name: string
  summary: string
  isBinary: boolean
  schema: Schema | null
  examples: Example[]
}

export type Channel = {
  id: string
  address: string
  summary: string
  description: string
  scope: string | null
  role: string | null
  subprotocol: string | null
  query: Named[]
  headers: Named[]
  /** The frames from the client to the server. */
  received: Message[]
  /** The frames from the server to the client. */
  sent: Message[]
}

/** `status` and `closeCode` are null if the code only ends a stream, or leaves a socket open. */
export type ErrorCode = {
  code: string
  status: number | null
  closeCode: number | null
  isOfSocket: boolean
  type: string
  retryable: boolean
  message: string
  hint: string
  headers: string[]
}

export type Contract = {
  /** The API's name, such as `router`. */
  name: string
  /** The path before all paths of the API, such as `/router`. Empty at the root. */
  base: string
  title: string
  summary: string
  description: string
  tags: { name: string; description: string }[]
  operations: Operation[]
  webhooks: Operation[]
  channels: Channel[]
  schemas: Readonly<Record<string, Schema>>
  errors: ErrorCode[]
}
