import { checkLanguage } from './check.ts'

checkLanguage('de', {
  numbers: {
    holds: `
      Meine Kontonummer ist 1234
      Meine Kundennummer ist 12
      Meine Kundennummer lautet vier sieben
      Die Postleitzahl ist 80
      Meine Postleitzahl lautet eins null
      Meine PIN ist 4
      Der Sicherheitscode ist 12
      Meine Versicherungsnummer ist 65 12
      Mein Geburtsdatum ist der 12.
      Meine Vertragsnummer lautet einundzwanzig
      Meine IBAN lautet DE89
      Meine IBAN ist DE 89 3704 0044
      Meine Steuernummer ist 123 456
      Das ist die 47 11
      Die Seriennummer ist 1 2 3
      Die Rechnungsnummer ist
      Mein Aktenzeichen ist zwei
      Meine IBAN ist D E neunundachtzig`,
    ends: `
      Meine Kundennummer ist 4711
      Meine Kontonummer ist 12345678
      Meine Bestellnummer lautet 4711
      Meine Hausnummer ist 5
      Die Postleitzahl ist 80331
      Meine PIN ist 1234.
      Mein Geburtsdatum ist der 12. 3. 1980
      Um 14:30.
      Am 12.05.2024.
      Das kostet 4,50
      Ich bin fünfundzwanzig
      Zimmer 12
      Meine IBAN lautet DE89 3704 0044 0532 0130 00
      Um zwölf.
      Der Fehlercode ist 12
      Ich habe keine IBAN.
      Es sind 212`,
  },
  cards: {
    holds: `
      Meine Kartennummer ist 4111
      Meine Kreditkarte ist die 4111 1111
      Meine Kreditkartennummer lautet vier eins eins eins
      Die Karte hat die Nummer 5500
      Meine Kreditkarte ist 4111 1111 1111
      Meine Kartennummer lautet einundvierzig elf
      Die Kartennummer ist 3782 822463.
      Meine EC-Karte hat die 1234
      Meine Kartennummer ist 4111 1111 1111 11
      Kreditkarte vier eins
      Meine Kartennummer lautet`,
    ends: `
      Meine Kartennummer ist 4111 1111 1111 1111
      Meine Kreditkarte ist 3782 822463 10005
      Meine Kartennummer lautet 4111111111111111.
      Meine Karte wurde gestohlen.
      Ich möchte mit Karte zahlen
      Meine Karte läuft 2027 ab.
      Ich habe zwei Karten
      Die Karte endet auf 42
      Das Ablaufdatum ist 12 27
      Ich habe meine Karte verloren.
      Ist meine Karte gesperrt?`,
  },
  phones: {
    holds: `
      Meine Nummer ist 0171
      Meine Telefonnummer ist 0171 123
      Unsere Nummer ist 040
      Sie erreichen mich unter 0171
      Meine Handynummer lautet null eins sieben
      Meine Nummer ist null eins einundsiebzig
      Meine Nummer ist +49 171
      Meine Rückrufnummer ist 030 12
      Vorwahl 030
      Meine Handynummer ist 0176 12345
      Das ist die 0 1 7 1
      Meine Nummer ist plus 43
      Rufen Sie mich unter 089
      Meine Nummer ist 0171.
      Unter der Nummer 0 30
      Meine Festnetznummer ist 0711 98`,
    ends: `
      Meine Nummer ist 0171 1234567
      Meine Handynummer ist 0176 12345678
      Meine Nummer ist 030 1234567
      Meine Nummer ist +49 171 1234567
      Meine Nummer ist 1234567
      Meine Nummer ist null eins sieben eins eins zwei drei vier fünf sechs sieben
      Mein Handy ist ein iPhone 12
      Sie erreichen mich um 12.
      Rufen Sie mich an.
      Meine Nummer hat sich geändert.
      Sie haben meine Nummer
      Das ist die falsche Nummer.
      Rufen Sie mich morgen zurück.`,
  },
  spelling: {
    holds: `
      Mein Name ist Schmidt, S C H
      S-C-H-M
      M wie Martha
      M wie Martha, A wie Anton
      Das schreibt sich mit D
      Geschrieben mit T
      Doppel S
      Müller, M Ü
      Anton Berta Cäsar
      Das buchstabiert man K
      Buchstabiert Martha
      Ich buchstabiere
      S für Siegfried
      Der Code ist X 7 K`,
    ends: `
      Mein Name ist Maier, M A I E R
      Schmidt, S-C-H-M-I-D-T.
      Mein Name ist Schmidt.
      Ich wohne in den U S A
      Vitamin C
      Ich habe es im T V gesehen
      Wie wird das geschrieben?
      Variante B
      Das ist falsch geschrieben
      Ich heiße Anna
      Das ist o k
      Martha ist meine Frau`,
  },
  mail: {
    holds: `
      Meine E-Mail ist anna
      Meine E-Mail-Adresse ist anna punkt
      Meine Mailadresse lautet anna punkt schmidt
      Anna ät
      Meine E-Mail ist anna at beispiel
      Meine E-Mail-Adresse lautet anna ät beispiel punkt
      Das ist anna.schmidt@beispiel
      anna@
      Meine Mail ist info Klammeraffe
      Meine Mailadresse ist a unterstrich
      Meine E-Mail-Adresse lautet
      Meine E-Mail ist anna bindestrich`,
    ends: `
      Meine E-Mail ist anna ät beispiel punkt de
      Meine E-Mail-Adresse ist anna.schmidt@beispiel.de
      Das ist anna@beispiel.de.
      Meine E-Mail ist nicht angekommen
      Meine E-Mail-Adresse ist falsch.
      Schicken Sie mir eine E-Mail.
      Das bringen wir auf den Punkt.
      Ich habe keine E-Mail bekommen
      Meine Mailadresse lautet info at parley punkt com
      Meine E-Mail ist schon da
      Ich schaue in meine Mails`,
  },
  hesitations: {
    holds: `
      Äh
      Ähm...
      Moment mal
      Moment mal.
      Einen Moment bitte.
      Lassen Sie mich überlegen.
      Ich überlege gerade
      Ich hätte gern einen Tisch, äh
      Mal sehen.
      Also
      Ja, also
      Warten Sie kurz
      Sekunde
      Wie soll ich sagen
      Moment.
      Ich muss kurz nachsehen.
      Augenblick bitte
      Tja
      Hm`,
    ends: `
      Ich weiß es nicht.
      Das ist alles im Moment
      Ich warte.
      Das ist eine gute Überlegung.
      Ich rufe später an.
      Ich komme in einer Stunde.
      Keine Ahnung.
      Das sehe ich auch so.
      Ich überlege es mir.
      Das war ein schöner Abend
      Nein danke`,
  },
  requests: {
    holds: `
      Könnten Sie bitte
      Könnten Sie mir bitte
      Können Sie
      Könnten Sie bitte.
      Ich hätte gern
      Ich hätte gerne.
      Ich möchte
      Ich würde gerne
      Ich brauche
      Haben Sie
      Gibt es
      Ich rufe an wegen
      Können Sie mir sagen
      Wäre es möglich
      Kann ich vielleicht
      Ich wollte fragen
      Dürfte ich kurz
      Ich suche
      Ich möchte einen Tisch für
      Würden Sie mir bitte mal`,
    ends: `
      Könnten Sie mir helfen?
      Ich möchte das.
      Das weiß ich.
      Ich nehme das.
      Das ist alles, was ich brauche.
      Das ist meine.
      Ja bitte.
      Ich komme mit.
      Ich hätte gern einen Tisch für zwei.
      Das kann nicht sein.
      Nein, danke
      Rufen Sie mich zurück.
      Haben Sie morgen geöffnet?
      Ich brauche einen Tisch
      Das bin ich.`,
  },
  backchannels: {
    listens: `
      Ja, genau.
      Mhm.
      Genau
      Ach so
      Alles klar
      Stimmt.
      Verstehe.
      Ja ja
      Okay
      Natürlich
      In Ordnung.
      Na klar`,
    answers: `
      Nein
      Moment
      Ja, aber
      Halt
      Stopp!
      Warten Sie
      Wie bitte?
      Das stimmt nicht
      Was?
      Falsch
      Noch einmal bitte`,
  },
  decisions: {
    accepted: `
      Ja.
      Ja, gerne
      Stellen Sie durch.
      Kein Problem, stellen Sie durch
      Okay
      Warum nicht
      Klar
      Natürlich.
      Verbinden Sie uns
      In Ordnung
      Einverstanden
      Jawohl`,
    declined: `
      Nein.
      Nee
      Jetzt nicht
      Leider nicht
      Später bitte
      Ich kann gerade nicht
      Ich habe keine Zeit
      Ablehnen
      Nein danke
      Auf keinen Fall
      Das passt gerade nicht`,
    undecided: `
      Wer ist da?
      Worum geht es?
      Ich weiß nicht
      Wie bitte?
      Hallo?
      Ich bin mir nicht sicher
      Ich habe Sie nicht verstanden
      Was haben Sie gesagt?
      Einen Moment
      Schmidt, guten Tag
      Können Sie das wiederholen?`,
  },
  greetings: {
    machines: `
      Bitte hinterlassen Sie eine Nachricht nach dem Signalton.
      Hier ist die Mailbox von Anna.
      Sie sind mit dem Anrufbeantworter der Familie Schmidt verbunden.
      Sprechen Sie nach dem Ton.
      Ihr gewünschter Gesprächspartner ist zurzeit nicht erreichbar, sprechen Sie bitte nach dem Piepton.
      Wenn Sie mir eine Nachricht hinterlassen, rufe ich zurück.
      Ich rufe Sie so schnell wie möglich zurück.
      Der Teilnehmer ist vorübergehend nicht erreichbar.
      Hinterlasst mir eine Nachricht.
      Sie können mir eine Nachricht hinterlassen.
      Nachrichten bitte nach dem Pieps.
      Die gewählte Rufnummer ist nicht vergeben.`,
    people: `
      Ich kann gerade nicht ans Telefon gehen, ich fahre gerade.
      Ich bin gerade im Meeting, worum geht's denn?
      Sie haben mir gestern auf die Mailbox gesprochen, oder?
      Möchten Sie eine Nachricht hinterlassen?
      Einen Moment bitte.
      Schmidt, guten Tag.
      Rufen Sie mich später noch einmal an.
      Soll ich etwas ausrichten?
      Ich habe gerade keine Zeit.
      Wer spricht da?
      Sie sind falsch verbunden.
      Ich bin bei der Arbeit.
      Ich habe Ihre Nachricht auf der Mailbox gehört.`,
  },
})
