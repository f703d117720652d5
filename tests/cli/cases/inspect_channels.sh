# Channels by letter and by number; dead and saturated ones; dims that are not there.
printf '%s\n' 0 0 0 0  3 3 3 3  1 2 6 6  1 2 3 4  5 1 nan inf > t.txt
spec=text:fp32:1x5x2x2
btftool inspect --by-axis C --input-spec $spec t.txt
btftool inspect --by-axis 1 --input-spec $spec t.txt | grep -e "  dead" -e "  saturated  "
btftool inspect --by-axis D --percentiles 50 --input-spec $spec t.txt | tail -1
echo "exit ${PIPESTATUS[0]}"
btftool inspect --by-axis 4 --input-spec $spec t.txt | tail -1
btftool inspect --by-axis ch --input-spec $spec t.txt | tail -1
btftool inspect --by-axis Q --input-spec $spec t.txt | tail -1
