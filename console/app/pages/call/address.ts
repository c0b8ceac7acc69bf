/** Reads and writes the query in a call page's URL: the moment, the selected turn and step, and the tab. */
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { pick } from '../../data/search.ts'
import { useSearchValues } from '../../parts/address.ts'

export const tabs = ['turn', 'report', 'events', 'models', 'deliveries', 'cost', 'settings'] as const
export type Tab = (typeof tabs)[number]

export type Address = { t: number | null; turn: number | null; span: string | null; tab: Tab | null }

export function readAddress(search: Readonly<Record<string, unknown>>): Address {
  const { t, turn, span, tab } = pick(search, ['t', 'turn', 'span', 'tab'])
  return { t: numberOf(t), turn: numberOf(turn), span: span ?? null, tab: tabs.find((each) => each === tab) ?? null }
}

/** Returns the query and a function to change it. A change replaces the entry in the browser's history. */
export function useAddress(): [Address, (change: Partial<Address>) => void] {
  const search = useSearchValues()
  const navigate = useNavigate()
  const address = useMemo(() => readAddress(search), [search])
  const change = useCallback(
    (part: Partial<Address>) =>
      void navigate({
        to: '.',
        search: (before: object) => searchOf({ ...readAddress({ ...before }), ...part }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  )
  return [address, change]
}

const numberOf = (text: string | undefined) => (text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : null)

function searchOf(address: Address): Record<string, string> {
  const given = Object.entries(address).filter(([, value]) => value !== null)
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}
