import { plain } from './phrases.ts'

/** Whether a transcript is only a part of what the agent has said: its echo in the microphone. */
export function isEcho(text: string, agentsWords: string): boolean {
  const said = plain(text)
  return said !== '' && ` ${plain(agentsWords)} `.includes(` ${said} `)
}
