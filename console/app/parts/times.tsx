/** Gives pages the organization's time zone, so that all its people read the same times. */
import { createContext, type ReactNode, useContext } from 'react'
import { type Times, timesIn } from './zone.ts'

const ZoneContext = createContext('UTC')

export function ZoneProvider({ zone, children }: { zone: string; children: ReactNode }) {
  return <ZoneContext value={zone}>{children}</ZoneContext>
}

export const useTimes = (): Times => timesIn(useContext(ZoneContext))
