export function openAudio(stream: object | null): Promise<{
  begin(
    rateHz: number,
    on: {
      onFrame(frame: ArrayBuffer): void
      onPlayed(mark: string): void
      onCleared(how: { mark: string | null; playedMs: number }): void
    },
  ): void
  play(bytes: ArrayBuffer): void
  mark(name: string): void
  clear(): void
  mute(isMuted: boolean): void
  close(): void
}>
