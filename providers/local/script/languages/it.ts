import type { ScriptLanguage } from './script-language.ts'

export const it: ScriptLanguage = {
  empty:
    'un uno una il lo la i gli le l questo questa questi queste quello quella io mi me mio mia miei noi ci nostro nostra tu ti te tuo tua lei ' +
    'suo sua vi voi vostro vostra lui loro è sono era erano essere c ha ho hanno avete avere può posso puoi potrebbe devo vorrei voglio di del ' +
    'dello della dei delle in nel nella a al alla ai alle da dal dalla per con su come e ed o ma se allora qui che chi quale quali cosa ' +
    'favore dire sapere bisogno dare anche molto non sì no ciao buongiorno buonasera ora adesso qualcosa più si fino',
  alike: [
    'aperto aperta aperti aprite apre aprire chiuso chiude chiudete orario orari ora ore quando',
    'prezzo costa costano costare quanto tariffa caro pagare euro',
    'dove indirizzo via trova trovate situato',
    'telefono numero chiamare contattare',
    'mail email posta',
    'prenotare prenotazione',
    'nome chiama chiami',
    'parcheggio parcheggiare',
    'cane cani animale animali',
  ],
  endings: [/(?:are|ere|ire|[aeio])$/],
  labels: { question: 'd|domanda|cliente', answer: 'r|risposta|agente', greeting: 'saluto|benvenuto|saluta con' },
  orders:
    'sei|lei è|tu|tuo|tua|sempre|mai|sii|sia|parla|parli|rispondi|risponda|se|quando|usa|chiedi|chieda|saluta|saluti|aiuta|aiuti|per favore|evita|offri',
  triggers: {
    whoAreYou:
      /\bchi (?:sei|è lei)(?!\p{L})|\bchi è\W*$|\b(?:il tuo|il suo) nome\b|\bsei (?:un[ao']? ?)?(?:ia|bot|modello|umano|robot)\b/iu,
    hello: /^(?:ciao|salve|buongiorno|buon giorno|buonasera|pronto)(?!\p{L})/iu,
    whatCanYouDo: /(?:che )?cosa (?:puoi|può|sai) fare/iu,
    thanks: /\bgrazie\b/i,
    goodbye: /\b(?:arrivederci|arrivederla|a presto|addio)\b/i,
    stop: /^(?:no,? )?(?:per favore,? )?(?:ferma|fermati|si fermi|aspetta|aspetti|basta|un momento|silenzio)(?!\p{L})/iu,
    again:
      /^\W*(?:scusi\W*)?(?:come(?: ha detto)?\s?\?|prego\?|(?:che )?cosa (?:ha|hai) detto|(?:può |puoi |per favore,? )?(?:ripet(?:a|i|ere))(?:lo)?(?:,? per favore)?)\W*$/iu,
    echo: /^(?:per favore,? )?(?:di'|dica|ripeti|ripeta)(?!\p{L})(?! (?:per favore|lo)\b)[\s:,]*(?=\S|$)/iu,
    leaves:
      /(?<!\p{L})(?:arrivederci|arrivederla|riagganciare|(?:è|questo è) tutto|nient'altro|niente altro|(?:terminare|chiudere) la (?:chiamata|telefonata))\b/iu,
    wantsCallback: /\b(?:richiam(?:ami|atemi|arci)|mi richiami|essere richiamat[oa]|richiamarmi)\b/i,
    calculation: /(?<a>-?\d+(?:[.,]\d+)?)\s*(?<operator>\+|-|\*|\/|più|meno|per|diviso)\s*(?<b>-?\d+(?:[.,]\d+)?)/iu,
  },
  decimalMark: ',',
  numbers: 'zero uno due tre quattro cinque sei sette otto nove dieci undici dodici',
  day: /(?<!\p{L})(?:oggi|domani|dopodomani|stasera|(?:lune|marte|mercole|giove|vener)dì|sabato|domenica)(?!\p{L})/iu,
  ownName: 'mi chiamo|il mio nome è|sono|nome',
  operators: { '+': ['più'], '-': ['meno'], '*': ['per'], '/': ['diviso'] },
  says: {
    introduction: 'Sono il sostituto di Parley, fatto di regole, non un modello linguistico',
    hello: 'Buongiorno!',
    askToRepeat: 'Mi chieda di ripetere qualcosa.',
    abilities:
      'Ripeto, calcolo e chiamo gli strumenti che lei nomina. Per risposte vere, imposti una chiave come OPENAI_API_KEY.',
    welcome: 'Prego.',
    goodbye: 'Arrivederci.',
    allRight: 'Va bene.',
    stillThere: 'È ancora lì?',
    sayAgain: 'Mi scusi, non ho capito. Può ripetere?',
    notConnected: 'Mi dispiace, non sono riuscito a passarle nessuno. Posso aiutarla in altro modo?',
    notConnectedTakesMessage: 'Mi dispiace, non sono riuscito a passarle nessuno. Vuole lasciare un messaggio?',
    noAnswer: 'e le mie istruzioni non hanno una risposta a questo.',
    noRule: 'e non ho una regola per questo. Configuri un modello linguistico per avere risposte vere.',
    youSaid: 'Lei ha detto:',
    toolAnswered: 'Lo strumento ha risposto:',
    toolFailed: 'Lo strumento non è riuscito:',
    done: 'fatto.',
    is: 'è',
    isEmpty: 'è vuoto',
    has: 'ha',
    hasMore: 'ha altro',
    nothing: 'niente',
    and: 'e',
    entry: 'voce',
    entries: 'voci',
  },
}
