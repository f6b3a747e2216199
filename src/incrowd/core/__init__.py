"""What everything speaks of: schema, tally, groups, recodings, queries; and the protocols of every kind of part.

schema        a column's role                    model       what safe means for a group
tally         the table as counts                method      how to get there
groups        who hides together                 form        what is published, and how it is shown
recoding      what a method decides              view        a form as a reader sees it
query         a counting question                metric      what a release is still good for
sampling      a share of the rows                attack      what an adversary tries (risk, target)
pseudonyms    keyed codes for identifiers        engine      where rows live
solutions     what a search looked at            source      where tables come from
families      all kinds of parts, by name        sink        a kind of file that tables are written to
"""
