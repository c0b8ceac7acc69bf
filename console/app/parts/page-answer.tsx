import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Page } from './page.tsx'
import { Answer } from './states.tsx'

type PageAnswerProps<Data> = {
  of: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>
  /** The page has this title until the data come. */
  title: string
  children: (data: Data) => ReactNode
}

/**
 * Shows a page whose title comes from its data. Until the data come, shows a page with the loading state or the error.
 */
export function PageAnswer<Data>({ of, title, children }: PageAnswerProps<Data>) {
  if (of.data !== undefined) return children(of.data)
  return (
    <Page title={title}>
      <Answer of={of} rows={10}>
        {() => null}
      </Answer>
    </Page>
  )
}
