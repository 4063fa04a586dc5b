"""For notes of claims: in what the files of the GTX 480 and the Tesla C2050, which have one chip, differ."""

WITH_TAGS = "caches keep tags here and not on c2050, the same chip"
WITHOUT_TAGS = "nothing hits in caches, which on gtx480, the same chip, keep tags"
