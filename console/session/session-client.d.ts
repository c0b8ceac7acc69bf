type Frame = { type: string } & Record<string, unknown>
/** The callbacks that a page can pass: for each type of frame, and for the client's events. */
export type SessionCallbacks = {
  ready?(frame: Frame): void
  lost?(): void
  played?(mark: string): void
  level?(value: number): void
  over?(how: { reason: string | null; error: (Frame & { message?: unknown }) | null }): void
} & { [type: string]: unknown }
export type TalkSession = {
  say(text: string): boolean
  mute(isMuted: boolean): void
  hangUp(): void
  close(): void
}
export function startSession(options: {
  transportUrl: string
  transportToken: string
  prefix?: string
  overrides?: object
  microphone?: boolean
  on?: SessionCallbacks
}): Promise<TalkSession>
