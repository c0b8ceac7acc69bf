type Frame = { type: string } & Record<string, unknown>
export type SocketEvents = {
  ready(frame: Frame): void
  frame(frame: Frame): void
  audio(bytes: ArrayBuffer): void
  lost(): void
  over(how: { reason: string | null; error: Frame | null }): void
}
export class SessionSocket {
  constructor(options: {
    url: string
    token: string
    prefix?: string
    first?: object | null
    on: SocketEvents
    WebSocket?: unknown
    nowMs?: () => number
    after?: (ms: number, run: () => void) => () => void
  })
  readonly isLive: boolean
  send(frame: object | ArrayBuffer): boolean
  close(): void
}
