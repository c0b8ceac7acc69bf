import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Page } from './page.tsx'
import { Answer } from './states.tsx'

type PageAnswerProps<Data> = {
  of: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>
  /** The page's title until the data are loaded. */
  title: string
  children: (data: Data) => ReactNode
}

/** A page whose title is in its data. It also has a title while it is loading or if loading fails. */
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
